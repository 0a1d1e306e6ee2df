"""Largest margins: the soft- and hard-margin SVM (Lecture 003, part 2); the duality gap bounds each solution's error.

``task`` states the problem and measures any solution; ``ascent``, ``interior`` and ``subspace`` find solutions;
``solve`` decides which method works when; ``hard`` is the case without slack. ``blocks`` solves the soft margin with a
kernel. ``logistic`` is the log loss in place of the hinge, and ``newton`` solves it.
"""
