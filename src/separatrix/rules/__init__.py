"""The rules, one file each. A new rule is a file, a line here, a known-result test and a line in the changelog."""

from __future__ import annotations

from typing import Any

from separatrix.rules.alma import ALMA
from separatrix.rules.arow import AROW
from separatrix.rules.base import Number, Rule, Update
from separatrix.rules.downhill import Downhill
from separatrix.rules.hinged import Hinged
from separatrix.rules.logistic_neuron import LogisticNeuron
from separatrix.rules.margin_perceptron import MarginPerceptron
from separatrix.rules.nherd import NHERD
from separatrix.rules.online_hinge import OnlineHinge
from separatrix.rules.passive_aggressive import PA, PA1, PA2
from separatrix.rules.pegasos import Pegasos
from separatrix.rules.perceptron import Perceptron
from separatrix.rules.romma import ROMMA, AggressiveROMMA
from separatrix.rules.scw import SCW1, SCW2
from separatrix.rules.second_order_perceptron import SecondOrderPerceptron
from separatrix.rules.sigmoid_neuron import SigmoidNeuron
from separatrix.rules.smooth import Smooth
from separatrix.rules.spreading import Spreading

RULES: dict[str, type[Any]] = {
    rule.name: rule
    for rule in (
        Perceptron, MarginPerceptron, SigmoidNeuron, LogisticNeuron, OnlineHinge, Pegasos, PA, PA1, PA2, AROW, SCW1,
        SCW2, NHERD, ROMMA, AggressiveROMMA, SecondOrderPerceptron, ALMA,
    )
}  # fmt: skip

__all__ = [
    "ALMA",
    "AROW",
    "NHERD",
    "PA",
    "PA1",
    "PA2",
    "ROMMA",
    "RULES",
    "SCW1",
    "SCW2",
    "AggressiveROMMA",
    "Downhill",
    "Hinged",
    "LogisticNeuron",
    "MarginPerceptron",
    "Number",
    "OnlineHinge",
    "Pegasos",
    "Perceptron",
    "Rule",
    "SecondOrderPerceptron",
    "SigmoidNeuron",
    "Smooth",
    "Spreading",
    "Update",
]  # fmt: skip
