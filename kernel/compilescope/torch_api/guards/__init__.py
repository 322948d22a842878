"""Live guards: kept, counted, and read without running them."""
