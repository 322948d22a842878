"""The studies of first calls, each call in a process of its own."""
