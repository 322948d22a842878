"""Generated wrappers: regions, statements, steps, launches, and which pair up."""
