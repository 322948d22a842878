"""The studies of first calls, each call in a separate process."""
