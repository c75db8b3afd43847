"""A storage kind is known to its own rooms alone: whoever adds one edits no other."""

from __future__ import annotations

import re
from pathlib import Path

import lakeward_vending

ROOT = Path(lakeward_vending.__file__).parent
# Where kinds are known: their folders, their rules, and the tables of profiles and credentials; the bootstrap lists them.
KNOWING = ("adapters/s3/", "domain/s3/", "domain/profiles/", "domain/credentials.py", "bootstrap.py")
MODULES = {str(path.relative_to(ROOT)): path.read_text() for path in ROOT.rglob("*.py")}
A_KIND = re.compile(
    r"\b(?:domain|adapters)(?:\.| import )s3\b"
    r"|\bprofiles(?:\.| import )(?!profile\b|urls\b|rules\b)\w+ import"
    r"|\bas_s3\b|\bS3[A-Z]\w+"
)


def named_in(module: str) -> list[str]:
    return [found[0] for found in A_KIND.finditer(MODULES[module])]


def test_no_other_module_knows_a_kind_by_name() -> None:
    others = [module for module in MODULES if not module.startswith(KNOWING)]
    assert {module: named for module in others if (named := named_in(module))} == {}
    assert len(others) > 20


def test_what_is_looked_for_is_found_where_kinds_are_known() -> None:
    for module in ("bootstrap.py", "adapters/s3/kind.py", "domain/profiles/stackit.py"):
        assert named_in(module)
