"""Model files: fitted models on the disk, read without running anything from the file."""
