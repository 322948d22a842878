"""How a wrapper uses memory, and the peak."""
