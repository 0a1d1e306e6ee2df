"""What scripts/release and scripts/platforms refuse. (That they pass is shown by running them, which takes minutes.)"""

from __future__ import annotations

import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

from loaded_scripts import script

ROOT = Path(__file__).resolve().parent.parent


def wheel(path, *, without="", core=b"core"):
    release = script("release")
    licences = [f"separatrix-0.1.0.dist-info/licenses/{name}" for name in release.LICENCES]
    with zipfile.ZipFile(path, "w") as archive:
        for name in [*release.IN_WHEEL, *licences, "separatrix/_core.abi.so"]:
            if name != without:
                archive.writestr(name, core if name.endswith(".so") else "text")
    return path


def test_a_whole_wheel_passes(tmp_path):
    script("release").check_wheel(wheel(tmp_path / "whole.whl"))


@pytest.mark.parametrize(
    ("without", "sentence"),
    [
        ("separatrix/py.typed", "the wheel lacks separatrix/py.typed"),
        ("separatrix-0.1.0.dist-info/licenses/licenses/nanobind.txt", "lacks the licence licenses/nanobind.txt"),
    ],
)
def test_a_wheel_that_lacks_a_file_is_refused(tmp_path, without, sentence):
    with pytest.raises(SystemExit, match=sentence):
        script("release").check_wheel(wheel(tmp_path / "part.whl", without=without))


def test_a_core_with_a_path_of_this_machine_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="holds a path of this machine"):
        script("release").check_wheel(wheel(tmp_path / "path.whl", core=f"..{ROOT}/src/..".encode()))


def test_an_sdist_that_lacks_a_file_of_the_repository_is_refused(tmp_path, monkeypatch):
    release = script("release")
    monkeypatch.setattr(release, "run", lambda command: "here\nnot/there\n")
    (tmp_path / "here").touch()
    with pytest.raises(SystemExit, match="the sdist lacks 1 files: not/there"):
        release.check_sdist(tmp_path)


def test_the_licences_of_what_is_linked_in_are_those_that_the_release_looks_for():
    assert sorted(metadata("separatrix").get_all("License-File")) == sorted(script("release").LICENCES)
    for name in script("release").LICENCES:
        assert "Copyright" in (ROOT / name).read_text(encoding="utf-8")


def test_a_platform_whose_bits_differ_fails_and_names_the_lines():
    platforms = script("platforms")
    text = (ROOT / "tests" / "kernel_bits.txt").read_text()
    assert platforms.compared("kernel_bits.txt", text) == f"{len(text.splitlines())} lines of kernel_bits.txt"
    name, bits = text.splitlines()[3].split(" ")
    other = text.replace(f"{name} {bits}", f"{name} {'0' * 16}")
    with pytest.raises(platforms.FailureError, match=rf"1 of \d+ lines differ from tests/kernel_bits.txt: {name}$"):
        platforms.compared("kernel_bits.txt", other)
    with pytest.raises(platforms.FailureError, match="1 of"):
        platforms.compared("kernel_bits.txt", "".join(text.splitlines(keepends=True)[1:]))


def test_a_tool_that_is_missing_is_named_before_anything_is_built(monkeypatch):
    release = script("release")
    monkeypatch.setattr(release, "TOOLS", ("pytest", "no-such-tool"))
    with pytest.raises(SystemExit, match=r"^no-such-tool not installed: pip install pytest no-such-tool$"):
        release.check_tools()
