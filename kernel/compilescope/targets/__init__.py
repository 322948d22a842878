"""Code for a GPU that is not present, generated in a separate process that emulates the device."""
