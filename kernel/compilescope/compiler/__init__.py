"""Runs a subject under variants: captured once, sources at once, built and measured on demand."""
