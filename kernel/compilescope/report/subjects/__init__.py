"""What a report is about: a call, a watch, a trace, a package or the ranks of a distributed run."""
