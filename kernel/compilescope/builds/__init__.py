"""Variants captured, generated, built, compared with eager, and timed."""
