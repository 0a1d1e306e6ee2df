"""Models for other places: one small description of a model, and one file for each language it is written in."""
