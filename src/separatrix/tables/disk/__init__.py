"""Rows that do not fit into memory: files of float32 rows, and learning from them."""
