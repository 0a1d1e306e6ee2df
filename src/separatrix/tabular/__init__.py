"""From a table to a model and back: which columns are used and how, rows in memory or on disk, fit, predict, update."""
