"""Guards of compilations: keeping them, evaluating them for other calls, and their cost."""
