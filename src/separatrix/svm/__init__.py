"""Largest margins: the soft- and hard-margin SVM (Lecture 003, part 2), each answer with the gap that bounds its error.

``question`` says what is solved and measures any answer; ``ascent``, ``interior`` and ``subspace`` find answers;
``solve`` decides which of them works when; ``hard`` is the case without slack. ``blocks`` solves the soft margin with a
kernel.
"""
