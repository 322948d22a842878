"""Work in a process of its own: the parent's end, and the child's."""
