"""The base class of confidence-weighted rules: weights that each have a spread, which narrows as they are used."""

from __future__ import annotations

from typing import Any, ClassVar

from separatrix.rules.hinged import OwnStep

COVARIANCES = ("diagonal", "full")


class Spreading(OwnStep):
    """Keeps a covariance ``S`` of the weights: those seen in few examples so far have a wide spread and move far.

    With ``x'`` the example and its bias coordinate, ``step`` sees ``v = x' . S x'`` in the place of ``|x'|^2`` and
    answers ``tau`` and ``beta``. With ``g = S x'`` the engine then does

    ``w' <- w' + tau * y * g`` and ``S <- S - beta * g g^T``.

    ``S`` is the identity at the start. A diagonal one keeps the diagonal of this update, so that an example touches
    its own features only. An example of weight c is presented ceil(c) times, the last time with what is left of c,
    which scales ``tau`` and ``beta``.

    Attributes
    ----------
    covariance : {"diagonal", "full"}
        One number for each weight, or one for each pair of weights.
    """

    spread: ClassVar[bool] = True
    remedy: ClassVar[str] = "scale the features, or take the average of the weights"
    covariance: str


def check_covariance(covariance: Any) -> str:
    """Return the form of a covariance, or refuse it."""
    if not isinstance(covariance, str) or covariance not in COVARIANCES:
        raise ValueError(f"covariance must be one of {', '.join(COVARIANCES)}; found {covariance!r}")
    return covariance
