"""The artifacts of one compilation: graphs, code, kernels, guards, plans, wrapper steps."""
