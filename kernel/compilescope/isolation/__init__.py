"""Preserves the user's state while a subject is called repeatedly."""
