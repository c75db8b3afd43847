"""The guides say what is there: their links, settings, commands, log lines and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import Context

from lakeward.cli.main import main
from lakeward_catalog.application.ports.gates import ProposedChange
from lakeward_catalog.domain.contracts.contract import Operation
from lakeward_catalog.domain.model import Kind
from lakeward_catalog.domain.names import NamespaceIdent, TabularIdent
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.settings.catalogue import Family
from lakeward_servicekit.settings.names import every
from tests.support.catalog.values import a_project, a_warehouse
from tests.support.guides import customized

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"])
BY_PAGE: dict[str, Any] = {"argvalues": PAGES, "ids": lambda page: str(page.relative_to(ROOT))}
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_VARIABLE = re.compile(r"\b((?:LAKEKEEPER|LAKEWARD)__[A-Z0-9_]+)")
_COMMAND = re.compile(r"(?m)(?:^|[`\s])lakeward (?=[a-z])([a-z-]+)")


@pytest.mark.parametrize("page", **BY_PAGE)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    assert [link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []


def known() -> Iterator[str]:
    for setting in every():
        variable = re.sub(r"<\w+>", "[A-Z0-9-]+", setting.variable)
        yield variable
        if setting.secret:
            yield f"{variable}_FILE"
        if "__" in setting.name:  # a level may be given whole
            yield setting.family.prefix + setting.name.partition("__")[0]


KNOWN = re.compile("|".join(f"(?:{variable})" for variable in known()))


@pytest.mark.parametrize("page", **BY_PAGE)
def test_every_setting_that_is_named_is_known(page: Path) -> None:
    if page.name == "configuration.md":
        pytest.skip("made from the settings, levels that the writer names included")
    named = set(_VARIABLE.findall(page.read_text())) - {family.prefix for family in Family}
    assert [variable for variable in sorted(named) if not KNOWN.fullmatch(variable)] == []


@pytest.mark.parametrize("page", **BY_PAGE)
def test_every_command_that_is_named_is_there(page: Path) -> None:
    code = re.findall(r"```sh\n(.*?)```|`(lakeward [^`]+)`", page.read_text(), re.DOTALL)
    commands = {command for block in code for part in block for command in _COMMAND.findall(part)}
    assert commands - set(main.list_commands(Context(main))) == set()


def test_log_lines_to_watch_for_are_logged() -> None:
    guide = (ROOT / "docs" / "operators.md").read_text()
    lines = re.findall(r"`([^`]+)`", guide.partition("Worth an alert:")[2].partition("\n\n")[0])
    rooms = ("services/*/lakeward_*/**/*.py", "libs/servicekit/lakeward_servicekit/**/*.py")
    code = "".join(path.read_text() for room in rooms for path in ROOT.glob(room))
    assert len(lines) >= 5
    assert [line for line in lines if line not in code] == []


async def test_the_gate_of_the_customization_guide_refuses_what_it_says() -> None:
    gate = customized("NoFloats")()
    orders = TabularIdent(NamespaceIdent.of(("shop",)), "orders")

    def made_with(kind: str) -> ProposedChange:
        return ProposedChange(
            warehouse=a_warehouse(a_project()),
            operation=Operation.CREATE,
            principal="oidc~peter",
            namespace=orders.namespace,
            name=orders.name,
            kind=Kind.TABLE,
            proposed=lambda: b'{"schemas": [{"fields": [{"type": "%s"}]}]}' % kind.encode(),
        )

    assert await gate.check(made_with("long"))
    with pytest.raises(Refusal) as refused:
        await gate.check(made_with("double"))
    assert refused.value.reason == Reason.REASON_CHANGE_REFUSED
