"""A subject under many variants and shapes, each cell in a separate process."""
