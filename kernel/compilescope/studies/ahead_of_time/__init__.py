"""The studies of what AOTInductor makes of a subject."""
