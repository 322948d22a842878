"""Whether what torch.compile builds on is there and works: one file a subject."""
