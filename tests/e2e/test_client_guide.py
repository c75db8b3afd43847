"""The examples of the pages on the client and on generic tables, run as they stand but for the address and the warehouse."""

from __future__ import annotations

import re
import secrets
import subprocess
from pathlib import Path

import pytest

from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "clients" / "python.md"
TABLES = DOCS / "generic-tables.md"
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


def test_every_example_of_the_page_on_generic_tables_runs_in_its_order(
    lakeward: Lakeward, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = f"ai_{secrets.token_hex(4)}"
    told = {"LAKEWARD": lakeward.url, "WAREHOUSE": lakeward.warehouse_id, "TOKEN": "anything"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    page = TABLES.read_text(encoding="utf-8")
    for ours, value in (
        ("http://127.0.0.1:8181", lakeward.url),
        ("warehouse=demo", f"warehouse={lakeward.warehouse}"),
        ("namespaces/ai/", f"namespaces/{namespace}/"),
        ('"namespace": ["ai"]', f'"namespace": ["{namespace}"]'),
    ):
        assert ours in page
        page = page.replace(ours, value)
    said = []
    for language, block in re.findall(r"```(sh|python)\n(.*?)```", page, re.DOTALL):
        if language == "python":
            exec(compile(block, TABLES.name, "exec"), {"__name__": "guide"})
            continue
        strict = f'set -eu\ncurl() {{ command curl --fail-with-body --silent --show-error "$@"; }}\n{block}\necho\nenv'
        ran = subprocess.run(["bash", "-c", strict], capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
        said.append(ran.stdout)
    assert len(said) == 4
    assert f"\nWAREHOUSE={lakeward.warehouse_id}\n" in said[0], "the id is the one that the page finds"
    assert '"format":"lance"' in said[1]
    assert '"rows":"3"' in said[2]
    assert "_versions/7.0198f2c4.manifest" in said[3]
    assert "[{'caption': 'dog', 'score': 0.9}]" in capsys.readouterr().out
