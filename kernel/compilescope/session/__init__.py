"""What this kernel has inspected, and what is asked of it later."""
