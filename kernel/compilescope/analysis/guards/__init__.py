"""Guards and recompiles: what failed, why, and how to avoid it."""
