"""Operators and tensors: where a kernel comes from, and calls of it."""
