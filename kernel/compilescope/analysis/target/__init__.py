"""What follows for a GPU that is not there."""
