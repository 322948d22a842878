"""Guards of compilations: kept, asked about other calls, and what they cost."""
