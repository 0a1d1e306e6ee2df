"""What a model file says about how the model was fitted: every read of these facts by the report is in this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.tables.model import TableModel, stored_certificate


@dataclass(frozen=True)
class RecordedFit:
    """The facts of a model, one property each."""

    facts: dict[str, Any]

    @classmethod
    def of(cls, model: TableModel) -> RecordedFit:
        """Return the facts of this model."""
        return cls(model.facts)

    @property
    def version(self) -> str:
        """The version of separatrix that fitted the model."""
        return str(self.facts["separatrix"])

    @property
    def source(self) -> str:
        """The name of the source."""
        return str(self.facts["source"])

    @property
    def source_fingerprint(self) -> str | None:
        """The fingerprint of the source."""
        return self.facts.get("fingerprint")

    @property
    def data_fingerprint(self) -> str | None:
        """The fingerprint of the training rows."""
        return self.facts.get("data")

    @property
    def rows(self) -> dict[str, int]:
        """The numbers of rows: read, dropped, train and test."""
        rows: dict[str, int] = self.facts["rows"]
        return rows

    @property
    def class_counts(self) -> list[tuple[str, int]]:
        """Each class with its number of training rows."""
        return [(str(each["label"]), int(each["rows"])) for each in self.facts.get("classes", [])]

    @property
    def n_features(self) -> int:
        """The number of features after encoding."""
        return int(self.facts["columns"]["numbers"])

    @property
    def used_columns(self) -> list[str]:
        """The columns that are features; none for rows without column names."""
        return list(self.facts["columns"]["used"])

    @property
    def unused_columns(self) -> list[str]:
        """The other columns of the source."""
        return list(self.facts["columns"]["unused"])

    @property
    def constant_columns(self) -> list[str]:
        """The columns with one value."""
        return list(self.facts.get("constant") or [])

    @property
    def missing_values(self) -> dict[str, int]:
        """The number of missing values in each column that has any."""
        return dict(self.facts.get("missing") or {})

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the fit."""
        settings: dict[str, Any] = self.facts["settings"]
        return settings

    @property
    def kind(self) -> str:
        """The kind of model, as in ``fit --model``."""
        return str(self.settings["model"])

    @property
    def status(self) -> str:
        """How training ended."""
        return str(self.facts["status"])

    @property
    def converged(self) -> bool:
        """Whether training converged."""
        return bool(self.facts.get("converged"))

    @property
    def interrupted(self) -> bool:
        """Whether training was interrupted."""
        return bool(self.facts.get("interrupted"))

    @property
    def on_disk(self) -> bool:
        """Whether the rows were on disk, not in memory."""
        return bool(self.facts.get("on_disk"))

    @property
    def mistakes(self) -> list[int]:
        """The mistakes of each epoch of a fit on disk."""
        return [int(each) for each in self.facts.get("mistakes", [])]

    @property
    def seconds(self) -> float | None:
        """The duration of the fit."""
        return self.facts.get("seconds")

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates since the fit: ``rows`` and ``source`` of each."""
        return list(self.facts.get("updates") or [])

    @property
    def test_scores(self) -> dict[str, Any] | None:
        """The scores on the test set: rows, right, accuracy, interval, baseline and confusion."""
        return self.facts.get("held_out")

    @property
    def training_accuracy(self) -> float | None:
        """The accuracy on the training rows."""
        return self.facts.get("training_accuracy")

    @property
    def certificate(self) -> Any:
        """The certificate of the training rows, None where there is none."""
        return stored_certificate(self.facts)

    @property
    def uncertified(self) -> str:
        """Why there is no certificate."""
        return str(self.facts.get("uncertified", ""))
