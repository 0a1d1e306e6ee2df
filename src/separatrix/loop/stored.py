"""What a model file may hold of this room, and the stop rules."""

from __future__ import annotations

from separatrix.models.registry import Stored

_STOPS = "separatrix.stops"

STORED = {
    "State": Stored(
        "separatrix.loop.state",
        old_fields={"drift": "average_correction", "ballot": "voted_weights"},
        defaults={"past_mistakes": 0, "spread": None, "unit": 1.0, "support": None},
    ),
    "JointState": Stored("separatrix.loop.joint"),
    "SupportSet": Stored("separatrix.loop.support_set"),
    "Status": Stored("separatrix.loop.state"),
    "NetworkState": Stored("separatrix.loop.network", old_fields={"met": "epoch_loss"}),
    "Layer": Stored("separatrix.loop.network"),
    "VotedWeights": Stored(
        "separatrix.loop.readouts",
        ("_start", "_bias_square", "_rows", "_index", "_signed", "_times", "_age"),
        old_names=("Ballot",),
    ),
    "KernelVotedWeights": Stored(
        "separatrix.loop.kernel_votes",
        ("_rows", "_signed", "_times", "_age", "_bias_square"),
        old_names=("KernelBallot",),
    ),
    "Epoch": Stored(_STOPS, defaults={"verified": True}),
    "StopReason": Stored(_STOPS, old_names=("Ending",)),
    "AnyOf": Stored(_STOPS),
    "NoMistakes": Stored(_STOPS),
    "MaxEpochs": Stored(_STOPS),
    "EpochsInAll": Stored(_STOPS),
    "TimeLimit": Stored(_STOPS),
    "LossAtMost": Stored(_STOPS),
    "LossFlat": Stored(_STOPS),
    "NoProgress": Stored(_STOPS),
    "HeldOutFlat": Stored(_STOPS),
}
