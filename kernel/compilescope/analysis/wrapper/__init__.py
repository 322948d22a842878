"""Generated wrappers: regions, statements, steps, launches, and their pairs."""
