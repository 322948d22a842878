"""What is inspected: the callable, its arguments, its functions, its cell."""
