"""One subject under inspection: its variants, and its growing report."""
