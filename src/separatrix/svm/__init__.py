"""Largest margins: the soft- and hard-margin SVM (Lecture 003, part 2); the duality gap bounds each solution's error.

``task`` states the problem and measures any solution; ``ascent``, ``interior``, ``subspace`` and ``newton`` find
solutions; ``choice`` says which of them works when, and ``solve`` runs them; ``hard`` is the case without slack.
``blocks`` solves the soft margin with a kernel. ``logistic`` is a task with a smooth loss (``smooth``: log and squared
hinge), and ``squared`` makes one of a soft margin.
"""
