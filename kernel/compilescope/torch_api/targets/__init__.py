"""Code for a GPU that this machine lacks: device, compiler, interpreter."""
