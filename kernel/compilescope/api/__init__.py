"""The public functions, by subject. `compilescope` exports them."""
