"""The rules, one file each. A new rule is a file, a line here, a known-answer test and a line in the changelog."""

from __future__ import annotations

from typing import Any

from separatrix.rules.base import Answer, Number, Rule
from separatrix.rules.margin_perceptron import MarginPerceptron
from separatrix.rules.perceptron import Perceptron

RULES: dict[str, type[Any]] = {rule.name: rule for rule in (Perceptron, MarginPerceptron)}

__all__ = ["RULES", "Answer", "MarginPerceptron", "Number", "Perceptron", "Rule"]
