"""What a wrapper's memory is used for, and the peak."""
