"""The examples of the client's page, run as they stand there but for the address and the warehouse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

PAGE = Path(__file__).parents[2] / "docs" / "clients" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

# The client says the same in every composition.
pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")


def test_every_example_of_the_clients_page_runs_in_its_order(
    lakeward: Lakeward, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, block in enumerate(BLOCKS):
        written = block.replace("https://lake.example.com", lakeward.url).replace('"sales"', f'"{lakeward.warehouse}"')
        exec(compile(written, f"{PAGE.name}, block {number}", "exec"), {"__name__": "guide"})
    said = capsys.readouterr().out
    assert lakeward.warehouse in said
    assert "images lance" in said
    assert '"dog"' in said
    assert "analysts" in said
    assert "mirrored ai.pictures" in said
    assert "_log/1.0198f2c4.json" in said
    assert "WarehouseNotEmpty" in said or "not empty" in said
