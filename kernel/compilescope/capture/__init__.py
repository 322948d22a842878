"""torch's structured trace as records, live or from a file."""
