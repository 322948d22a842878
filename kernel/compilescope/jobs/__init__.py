"""Work for the kernel's main thread, the subjects it is done for, and its observers."""
