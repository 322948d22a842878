"""Parses generated text: brackets, sizes, stacks, marks in comments."""
