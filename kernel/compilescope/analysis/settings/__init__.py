"""What a variant asked for, and what torch made of it."""
