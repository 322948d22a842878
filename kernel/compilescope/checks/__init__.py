"""Checks of everything that torch.compile depends on, one file for each subject."""
