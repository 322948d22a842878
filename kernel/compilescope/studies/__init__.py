"""Extra measurements of a variant beyond its first timing, each run on request."""
