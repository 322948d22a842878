"""A target's process: device emulation, and answers to the kernel."""
