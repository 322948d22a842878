"""A call inspected on several ranks, each in a process of its own."""
