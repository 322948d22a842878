"""The subjects inspected in this kernel, and later requests about them."""
