"""Decisions and estimates for a GPU that is not present."""
