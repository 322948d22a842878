"""The subjects that this kernel has inspected, and later requests about them."""
