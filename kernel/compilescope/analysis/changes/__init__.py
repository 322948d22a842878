"""Differences between variants, reports and ranks."""
