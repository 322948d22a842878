"""What to change, with the gain, the code and the reason."""
