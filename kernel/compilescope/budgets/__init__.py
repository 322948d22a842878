"""Limits on what a block of code may compile, for tests and CI."""
