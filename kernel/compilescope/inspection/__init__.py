"""One subject under inspection: its variants, and the report that grows with them."""
