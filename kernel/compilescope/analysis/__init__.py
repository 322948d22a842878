"""What the records say: from torch's structured trace to the report, one file an artifact."""
