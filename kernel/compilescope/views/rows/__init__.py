"""The contents of views as rows of words and figures, shared by text and HTML."""
