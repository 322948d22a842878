"""How reports are kept: files, redaction, and each graph and stack of source lines once."""
