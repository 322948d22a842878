"""What differs between variants, reports and ranks."""
