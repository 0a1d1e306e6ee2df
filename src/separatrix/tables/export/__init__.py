"""Models in other languages: one description of a model (``scorer``), a table of targets, one file for each target."""
