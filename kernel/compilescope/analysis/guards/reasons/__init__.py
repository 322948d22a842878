"""Why a frame was compiled again: failed guards, other changes, torch's limit."""
