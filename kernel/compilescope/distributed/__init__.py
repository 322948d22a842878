"""Inspects a call on several ranks, each in a separate process."""
