"""Models compared on the same test rows: accuracy, time, memory, size, and what is proved."""
