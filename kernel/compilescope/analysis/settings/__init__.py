"""Requested and effective settings of a variant."""
