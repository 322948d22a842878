"""Work in separate processes: the parent's side and the child's."""
