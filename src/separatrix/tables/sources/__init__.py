"""Sources: files into problems."""
