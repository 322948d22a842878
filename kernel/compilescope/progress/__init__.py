"""Progress of running work, and its usual duration."""
