"""Watches the compilations of the user's own code, which runs unchanged."""
