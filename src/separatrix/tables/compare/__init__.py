"""Models held against each other on the same rows: how often right, how fast, how large, what is proved."""
