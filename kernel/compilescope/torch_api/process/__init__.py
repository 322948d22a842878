"""Process-wide state: patches, settings, variables, devices."""
