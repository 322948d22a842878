"""The studies of a subject compiled with AOTInductor."""
