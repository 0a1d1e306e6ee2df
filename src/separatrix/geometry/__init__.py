"""Numbers about rows: checked rows, moments, balls, kernels and their cache. No labels, no learning."""
