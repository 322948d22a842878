"""Exceptions of a compilation, as problems."""
