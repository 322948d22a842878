"""Medians, ratios and intervals, and the formatting of figures."""
