"""What the user's own code compiles while it runs, unchanged."""
