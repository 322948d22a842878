"""How reports are kept: files, redaction, and each stack of source lines once."""
