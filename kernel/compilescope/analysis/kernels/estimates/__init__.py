"""What a launch reads, writes and computes, estimated from graphs and sources."""
