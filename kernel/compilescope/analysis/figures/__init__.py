"""Medians, ratios and intervals, and how figures read."""
