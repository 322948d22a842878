"""What belongs to the whole process: patches, settings, variables, devices."""
