"""What was compiled ahead of time, and where a trace was written."""
