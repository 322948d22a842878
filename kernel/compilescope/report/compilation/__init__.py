"""What torch made in one compilation: graphs, code, kernels, guards, plans, wrapper steps."""
