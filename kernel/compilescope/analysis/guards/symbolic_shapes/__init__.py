"""Symbols for sizes: where they come from, their ranges, and the guards on them."""
