"""Work for the kernel's main thread, its subjects, and its observers."""
