"""Estimators: thin scikit-learn classes over ``solve``. One-vs-rest lives here only."""

from __future__ import annotations

from separatrix.estimators.kernel_perceptron import KernelPerceptron
from separatrix.estimators.kernel_svm import KernelSVM
from separatrix.estimators.linear_svm import LinearSVM
from separatrix.estimators.logistic_regression import LogisticRegression
from separatrix.estimators.network import Network
from separatrix.estimators.neuron import Neuron
from separatrix.estimators.online_svm import OnlineSVM
from separatrix.estimators.passive_aggressive import PassiveAggressive
from separatrix.estimators.perceptron import Perceptron

__all__ = [
    "KernelPerceptron",
    "KernelSVM",
    "LinearSVM",
    "LogisticRegression",
    "Network",
    "Neuron",
    "OnlineSVM",
    "PassiveAggressive",
    "Perceptron",
]
