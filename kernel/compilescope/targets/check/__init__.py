"""A target's kernels run in Triton's interpreter and compared with their operators."""
