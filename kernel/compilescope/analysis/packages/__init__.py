"""Packages compiled ahead of time, and the environment of a trace."""
