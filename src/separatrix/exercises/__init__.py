"""Exercises for a class: drawn from a seed, solved by this package, checked exactly, written as sheets.

Each topic is a file in topics/; sheet.py makes the sheets, writers.py writes them. No mathematics of its own beyond the
checks: the solutions come from trace, certify, kkt and their like.
"""
