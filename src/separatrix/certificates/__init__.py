"""Certificates: what is true of the data and of a model, each claim with a proof that anyone can check."""
