"""Torch's structured trace, and the artifacts that compilescope adds to it."""
