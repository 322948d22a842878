"""The user's state, kept while a subject is called again and again."""
