"""What a model file may hold of this room."""

from __future__ import annotations

from separatrix.models.registry import Stored

STORED = {
    "Moments": Stored("separatrix.geometry.moments", ("count", "_mean", "_squares"), old_names=("Spread",)),
    "Kernel": Stored("separatrix.geometry.kernels"),
}
