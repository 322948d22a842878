"""Capture, generate, build and time variants, and compare them with eager."""
