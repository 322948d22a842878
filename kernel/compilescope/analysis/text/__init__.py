"""Reading generated text: brackets, sizes, stacks, marks in comments."""
