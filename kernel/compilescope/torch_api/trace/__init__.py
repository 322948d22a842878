"""torch's structured trace, and what is added to it."""
