"""Programs that run one kernel or one graph of a report by themselves, tried before offered."""
