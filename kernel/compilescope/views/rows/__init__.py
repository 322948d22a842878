"""What the views show, as rows of words and figures: the same in text and HTML."""
