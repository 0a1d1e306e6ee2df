"""Insight into runs and models: traces, optimality conditions, importance, original units, descent, enclosing balls."""
