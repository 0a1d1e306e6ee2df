"""From a source to a model and back: sources, preparation, fit, predict, update; comparisons, reports, exports."""
