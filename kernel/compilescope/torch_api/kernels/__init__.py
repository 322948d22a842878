"""Kernels as they are loaded, launched and timed."""
