"""Writes what the Python client has from our own API: models, one method an operation, and the twin without `await`.

python tools/generate_client.py          writes them
python tools/generate_client.py --check  fails when they are stale

Models and operations are made from the management API's OpenAPI document, which the gateway makes from its operations. What
people write of the client stands in `_async`; `_sync` is the same text, turned by unasync, so neither can do what the other
does not.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import unasync

from lakeward_gateway.bootstrap import openapi_documents

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "clients" / "python" / "lakeward"
NOTE: Final = "Made by tools/generate_client.py from the management API's document; do not edit."
PREFIX: Final = "/management/v1"

# What the twin calls otherwise, beside the words that unasync knows itself and the classes of ours.
WORDS: Final[Mapping[str, str]] = {
    "AsyncClient": "Client",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncLock": "Lock",
    "AsyncFetch": "Fetch",
    "AsyncIdOf": "IdOf",
    "AsyncHandOut": "HandOut",
    "AsyncSource": "Source",
    "_async": "_sync",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "anyio": "time",
    "in_thread_async": "in_thread",
}
_BOUNDS: Final = frozenset({"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"})
_TYPES: Final[Mapping[str, str]] = {"integer": "int", "string": "str", "boolean": "bool", "number": "float"}


def document() -> Mapping[str, Any]:
    """The management API's OpenAPI document."""
    return openapi_documents()["management"]()


def models(described: Mapping[str, Any], into: Path) -> None:
    """A class for each schema that a client sends or gets."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "management.json"
        source.write_text(json.dumps(_open(described)))
        subprocess.run(
            [
                sys.executable,
                "-m",
                "datamodel_code_generator",
                *("--input", str(source), "--input-file-type", "openapi", "--output", str(into)),
                *("--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.10"),
                *("--base-class", "lakeward.management.base.Model"),
                *("--custom-file-header", f'"""What the management API takes and answers: {NOTE}"""'),
                *("--naming-strategy", "parent-prefixed", "--formatters", "builtin", "--enum-field-as-literal", "all"),
                *("--use-union-operator", "--use-standard-collections", "--use-annotated", "--use-schema-description"),
                *("--snake-case-field", "--collapse-root-models", "--use-double-quotes", "--disable-timestamp"),
            ],
            check=True,
        )


def _open(schema: Any) -> Any:  # noqa: ANN401 - a JSON schema's parts
    # A newer server may answer a word that this client does not know, so each list of words is open; a discriminator is not.
    if isinstance(schema, list):
        return [_open(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # Bounds are the server's to check: it says more of a wrong value than a client can.
    opened = {
        key: _open(value) for key, value in schema.items() if key not in _BOUNDS or not isinstance(value, int | str)
    }
    words = opened.get("enum")
    if isinstance(words, list) and len(words) > 1 and all(isinstance(word, str) for word in words):
        kept = {key: opened[key] for key in ("title", "description", "default") if key in opened}
        return {"anyOf": [{"type": "string", "enum": words}, {"type": "string"}], **kept}
    return opened


def operations(described: Mapping[str, Any]) -> str:
    """The source of `_async/operations.py`."""
    methods = [
        _method(path, verb.upper(), operation)
        for path, item in described["paths"].items()
        for verb, operation in item.items()
        if verb != "parameters" and path.startswith(PREFIX) and not operation.get("deprecated")
    ]
    return _HEAD.format(note=NOTE) + "\n".join(methods)


_HEAD: Final = '''"""One method for each operation of the management API.

{note}
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from lakeward._async.connection import AsyncConnection
from lakeward._calls import Call, key_of
from lakeward.management import models
from lakeward.management.base import read


class AsyncOperations:
    """The management API as it is; `management` of a client is built on it, and says less.

    Attributes:
        connection: what sends.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self.connection = connection

'''


def _method(path: str, verb: str, operation: Mapping[str, Any]) -> str:
    parameters = [parameter for parameter in operation.get("parameters", ()) if "$ref" not in parameter]
    placed = [parameter for parameter in parameters if parameter["in"] == "path"]
    asked = [parameter for parameter in parameters if parameter["in"] == "query"]
    keyed = any(parameter["name"] == "Idempotency-Key" for parameter in parameters)
    body = _name_of(operation.get("requestBody", {}))
    answers = {_name_of(answer) for status, answer in operation["responses"].items() if status.startswith("2")}
    answer = next(iter(answers - {None}), None)
    arguments = ["self", *(f"{_word(parameter['name'])}: {_type(parameter)}" for parameter in placed)]
    if body is not None:
        arguments.append(f"body: models.{body}")
    named = [f"{_word(parameter['name'])}: {_type(parameter)} | None = None" for parameter in asked]
    named.append("project: str | None = None")
    if keyed:
        named.append("idempotency_key: UUID | None = None")
    lines = [
        f"    async def {operation['operationId']}(",
        *(f"        {argument}," for argument in (*arguments, "*", *named)),
        f"    ) -> {f'models.{answer}' if answer else 'None'}:",
        f'        """{_sentence(operation)}"""',
        f"        {'found = ' if answer else ''}await self.connection.call(",
        "            Call(",
        f'                "{verb}",',
        f'                "{path}",',
    ]
    if placed:
        lines.append(f"                places={_mapping(placed)},")
    if asked:
        lines.append(f"                query={_mapping(asked)},")
    if body is not None:
        lines.append("                body=body.wire(),")
    lines.append("                project=project,")
    if keyed:
        lines.append("                key=key_of(idempotency_key),")
    if _reads(operation, verb):
        lines.append("                reads=True,")
    lines += ["            )", "        )"]
    if answer:
        lines.append(f"        return read(models.{answer}, found.content)")
    return "\n".join(lines) + "\n"


def _reads(operation: Mapping[str, Any], verb: str) -> bool:
    # POSTs that change nothing may be repeated as any GET.
    words = ("list_", "search", "check", "batch_check", "explain", "validate", "get_")
    return verb == "POST" and operation["operationId"].startswith(words)


def _mapping(parameters: Sequence[Mapping[str, Any]]) -> str:
    return "{" + ", ".join(f'"{each["name"]}": {_word(each["name"])}' for each in parameters) + "}"


def _name_of(holder: Mapping[str, Any]) -> str | None:
    schema = holder.get("content", {}).get("application/json", {}).get("schema", {})
    reference = schema.get("$ref")
    return None if reference is None else str(reference).rpartition("/")[2]


def _type(parameter: Mapping[str, Any]) -> str:
    schema = parameter["schema"]
    if schema.get("type") == "array":
        return "Sequence[str]"
    if parameter["in"] == "path":
        return "UUID | str"
    if schema.get("format") == "date-time":
        return "datetime"
    return _TYPES.get(schema.get("type", "string"), "str")


def _word(name: str) -> str:
    word = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()
    return f"{word}_" if keyword.iskeyword(word) or word in {"type", "id"} else word


def _sentence(operation: Mapping[str, Any]) -> str:
    return str(operation["summary"]).replace('"', "'")


def turned(package: Path) -> None:
    """Write a package's `_sync`: its `_async` without the awaits."""
    sources = sorted((package / "_async").rglob("*.py"))
    ours = {name for path in sources for name in re.findall(r"^class Async(\w+)", path.read_text(), re.MULTILINE)}
    words = {**WORDS, **{f"Async{name}": name for name in ours}}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "_async"
        shutil.copytree(package / "_async", source, ignore=shutil.ignore_patterns("__pycache__"))
        rule = unasync.Rule(fromdir="/_async/", todir="/_turned/", additional_replacements=words)
        unasync.unasync_files([str(path) for path in sorted(source.rglob("*.py"))], [rule])
        shutil.rmtree(package / "_sync", ignore_errors=True)
        shutil.copytree(Path(folder) / "_turned", package / "_sync")
    for path in sorted((package / "_sync").rglob("*.py")):
        note = "# made by tools/generate_client.py from what stands in _async; do not edit\n"
        path.write_text(note + path.read_text())


def _formatted(*made: Path) -> None:
    common = ("--config", str(ROOT / "pyproject.toml"), "--target-version", "py310", "--no-cache", "--quiet")
    for command in (("check", "--select", "I,F401", "--fix", "--exit-zero"), ("format",)):
        subprocess.run([sys.executable, "-m", "ruff", *command, *common, *map(str, made)], check=True)


def write(package: Path) -> None:
    """Make everything in the package that is given, whose `_async` stands."""
    described = document()
    made = (package / "management" / "models.py", package / "_async" / "operations.py")
    models(described, made[0])
    made[1].write_text(operations(described))
    _formatted(*made)
    turned(package)
    _formatted(package / "_sync")


def _files(package: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(package.rglob("*.py")):
        yield str(path.relative_to(package)), path.read_text()


def main() -> int:
    """0 where what is there is what would be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether something is stale")
    if not parser.parse_args().check:
        write(PACKAGE)
        return 0
    before = dict(_files(PACKAGE))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lakeward"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_sync"))
        write(copy)
        after = dict(_files(copy))
    stale = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in stale:
        print(f"stale: clients/python/lakeward/{name}; run python tools/generate_client.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
