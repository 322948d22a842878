"""Code for a GPU that is not there: device, compiler, interpreter."""
