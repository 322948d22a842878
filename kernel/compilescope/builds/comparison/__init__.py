"""Compare a variant's results with eager's, from equal states, on every rank."""
