"""The inspected subject: the callable, its arguments, its functions, its cell."""
