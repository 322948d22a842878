"""Dynamo: its state, what it compiled, settings of ``torch.compile``."""
