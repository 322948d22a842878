"""Measures times of calls, and differences of their results."""
