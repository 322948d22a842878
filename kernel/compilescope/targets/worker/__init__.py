"""A target's process: what it becomes, and how it answers the kernel."""
