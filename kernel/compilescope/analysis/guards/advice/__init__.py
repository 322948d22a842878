"""What to change against a recompile."""
