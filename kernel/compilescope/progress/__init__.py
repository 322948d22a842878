"""What work says of itself while it runs, and how long it usually takes."""
