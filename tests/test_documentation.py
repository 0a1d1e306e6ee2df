"""The documentation: its examples run, its commands print what it shows, and its reference has every public name."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest

import separatrix as sx

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
IN_ORDER = ("lectures/", "teaching.md")  # test_lecture_pages.py runs these from top to bottom
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
PAGES = [page for page in PAGES if not page.startswith(IN_ORDER)]


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def loaded(path, name, monkeypatch):
    """Import a file under this name, for as long as a test takes."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def as_before(monkeypatch):
    """Undo what a page does to the package: the rules it adds, the files it shows."""
    rules = dict(sx.rules.RULES)
    with monkeypatch.context() as undone:
        yield undone
    sx.rules.RULES.clear()
    sx.rules.RULES.update(rules)


def written(block, folder, as_before):
    """Write a file that a page shows, import it under its name, and run its examples."""
    name, code = re.match(r"# src/(\S+)\.py\n(.*)", block, re.DOTALL).groups()
    path = folder / "file.py"
    path.write_text(code, encoding="utf-8")
    module = loaded(path, name.replace("/", "."), as_before)
    assert doctest.testmod(module) == (0, len(re.findall(r"^ *>>> ", code, re.MULTILINE)))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_examples_of_the_page_run(page, tmp_path, as_before):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=LENIENT)
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(page, "python"), start=1):
        if block.startswith("# src/"):
            written(block, tmp_path, as_before)
            continue
        test = parser.get_doctest(block, names, f"{page}, block {number}", page, 0)
        assert test.examples, f"block {number} of {page} has no >>>"
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.failures == 0


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")])
def test_the_commands_of_the_page_print_what_it_shows(page, run):
    checker = doctest.OutputChecker()
    for block in blocks(page, "console"):
        for program, command, shown in re.findall(
            r"^\$ (separatrix|cat) (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE
        ):
            if program == "cat":
                Path(command).write_text(shown, encoding="utf-8")
                continue
            status, printed, messages = run(*shlex.split(command))
            assert status == (1 if shown.startswith("rejected") else 0), f"{command}\n{messages}"
            assert checker.check_output(shown, printed, LENIENT), f"{command}\n{printed}\n{messages}"


def test_the_guide_takes_a_quarter_of_an_hour():
    assert len((DOCS / "guide.md").read_text(encoding="utf-8").split()) <= 3000


def described():
    """Return the names that the reference describes."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    return set(re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.MULTILINE))


def test_the_reference_has_every_public_name():
    found = described()
    modules = {name for name in sx.__all__ if type(getattr(sx, name)).__name__ == "module"}
    assert {f"separatrix.{name}" for name in sx.__all__ if name not in modules} <= found
    assert {"separatrix.plots", "separatrix.datasets"} <= found
    assert {f"separatrix.rules.{rule.__name__}" for rule in sx.rules.RULES.values()} <= found
    for module in modules - {"rules", "datasets"}:
        code = ast.parse(Path(getattr(sx, module).__file__).read_text(encoding="utf-8"))
        classes = {each.name for each in code.body if isinstance(each, ast.ClassDef) and each.name[0] != "_"}
        assert {f"separatrix.{module}.{name}" for name in classes} <= found


def test_every_page_of_the_reference_is_in_its_contents():
    listed = (DOCS / "api" / "index.md").read_text(encoding="utf-8").split("```{toctree}")[1].split()
    assert {path.stem for path in (DOCS / "api").glob("*.md")} - {"index"} <= set(listed)


def test_the_page_of_commands_has_every_command_and_option(run, monkeypatch):
    text = loaded(DOCS / "extensions" / "command_reference.py", "command_reference", monkeypatch).reference()
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    _, printed, _ = run("--help")
    listed = printed.split("interrupted.")[1].split("Options:")[0]
    assert set(re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)) == set(sections)
    for command, section in sections.items():
        _, printed, _ = run(command, "--help")
        options = set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", printed, re.MULTILINE)) - {"--help"}
        assert options <= set(re.findall(r"--[a-z0-9-]+", section)), command
