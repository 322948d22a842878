"""Guards and recompiles: what failed, why, and what removes it."""
