"""Files that are damaged, are no models, or cannot be read are refused by name."""

from __future__ import annotations

import errno
import os
import struct

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    StandardScaler,
)

import separatrix as sx
from forged_models import apart, reheaded, together
from saved_models import TWO, X, refuse
from separatrix.models import model_file
from separatrix.models.model_file import read_facts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_files_that_are_no_models_are_refused_by_name(tmp_path):
    refuse(tmp_path / "none.sx", "none.sx: there is no such file$")
    refuse(tmp_path, ": this is a folder, not a model file$")
    for content in (b"", b"1", b"\x00" * 100, b"a,b,c\n1,2,3\n" * 100, os.urandom(1000), struct.pack("<Q", 2) + b"{}"):
        (tmp_path / "other").write_bytes(content)
        refuse(tmp_path / "other", "is not a model file of separatrix, or its beginning is damaged$")
    (tmp_path / "two\nlines").write_bytes(b"")
    with pytest.raises(ValueError, match="two lines is not a model file"):
        sx.load(tmp_path / "two\nlines")
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", ": this is no file, not a model file$")
    with pytest.raises(ValueError, match="cannot be read: embedded null"):
        sx.load("a\0b")
    with pytest.raises(TypeError):
        sx.load(None)


def test_another_tensor_file_is_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors")
    refuse(tmp_path / "weights.safetensors", "is not a model file of separatrix")
    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors", metadata={"format": "pt"})
    refuse(tmp_path / "weights.safetensors", "is not a model file of separatrix")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everyone may read")
def test_a_file_that_may_not_be_read_is_refused(small):
    small.chmod(0)
    refuse(small, "it cannot be read: Permission denied$")


def test_no_permission_is_said(small, monkeypatch):
    def refused(*given, **more):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(model_file, "open", refused, raising=False)
    refuse(small, "small.sx: it cannot be read: Permission denied$")


def test_a_newer_schema_asks_for_an_update(small):
    small.write_bytes(reheaded(small.read_bytes(), {"schema": "7"}))
    refuse(small, r"was written by a newer separatrix \(model schema 7; this one reads 1\): update the package$")
    with pytest.raises(ValueError, match="newer separatrix"):
        read_facts(small)


def test_another_scikit_learn_is_a_warning_where_its_steps_are_held(small, tmp_path):
    small.write_bytes(reheaded(small.read_bytes(), {"scikit-learn": "0.1"}))
    sx.load(small)
    path = tmp_path / "pipe.sx"
    sx.save(make_pipeline(StandardScaler(), sx.Perceptron()).fit(X, TWO), path)
    path.write_bytes(reheaded(path.read_bytes(), {"scikit-learn": "0.1"}))
    with pytest.warns(UserWarning, match=r"pipe.sx holds steps of scikit-learn 0.1, and this is "):
        sx.load(path)
    metadata, tree, arrays = apart(path.read_bytes())
    arrays["steps.0.1.scale_"] = np.zeros(3)
    path.write_bytes(together(metadata, tree, arrays))
    refuse(path, r"is damaged: the scale_ .* \(it was written with scikit-learn 0.1, this is ")


def test_every_changed_byte_is_noticed(small):
    raw = small.read_bytes()
    assert len(raw) < 6000
    for place in range(len(raw)):
        for other in (raw[place] ^ 0xFF, raw[place] ^ 1, 0x20, 0x00, 0x30):
            if other == raw[place]:
                continue
            with pytest.raises(ValueError, match=r"^x\.sx"):
                model_file.build(raw[:place] + bytes([other]) + raw[place + 1 :], "x.sx")


def test_every_missing_end_is_noticed(small):
    raw = small.read_bytes()
    for length in range(len(raw)):
        with pytest.raises(ValueError, match=r"^x\.sx"):
            model_file.build(raw[:length], "x.sx")
    for more in (b"\x00", b" ", raw):
        with pytest.raises(ValueError, match=r"^x\.sx"):
            model_file.build(raw + more, "x.sx")


def test_a_cut_file_says_so(small):
    raw = small.read_bytes()
    small.write_bytes(raw[: len(raw) // 2])
    refuse(small, "is damaged: it ends too early$")
    small.write_bytes(raw[:-4])
    refuse(small, "is damaged: its arrays cannot be read")
    small.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    refuse(small, "is damaged: its checksum is wrong$")
