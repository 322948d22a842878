"""Code for a GPU that is not there: made in a process of its own, which believes it has one."""
