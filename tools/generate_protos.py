"""Generates `lakeward_protocol` from `protos/`, or checks that what is committed is what would be generated.

The proto packages are `lakeward.<concern>.<version>`; the Python packages are `lakeward_protocol.<concern>.<version>`, a
distribution of their own. protoc cannot rename packages, so the imports are rewritten here. So is one thing in stubs, and
nothing else is: beside its request a servicer's method takes not gRPC's context but what our pipeline hands it, by position.

Run: `python tools/generate_protos.py [--check]`.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Final

from grpc_tools import protoc  # type: ignore[import-untyped]

ROOT: Final = Path(__file__).resolve().parent.parent
PROTOS: Final = ROOT / "protos"
OUT: Final = ROOT / "libs" / "protocol" / "lakeward_protocol"
HEADER: Final = "# Generated from protos/ by tools/generate_protos.py; do not edit.\n"

# `from lakeward.errors.v1 import reason_pb2` and, in stubs, `import lakeward.errors.v1.reason_pb2`
_FROM = re.compile(r"^(\s*from )lakeward\.", re.MULTILINE)
_IMPORT = re.compile(r"^(\s*import )lakeward\.", re.MULTILINE)
_QUALIFIED = re.compile(r"(?<![\w./\"'])lakeward\.(?=\w+\.v\d\w*\.\w+_pb2)")
# in stubs, of each method of a servicer
_CONTEXT = re.compile(r"^( +)context: _ServicerContext,$", re.MULTILINE)


def generate(into: Path) -> None:
    """Writes the whole generated package below `into`, which stands for `lakeward_protocol`."""
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        well_known = str(files("grpc_tools") / "_proto")
        status = protoc.main(
            [
                "protoc",
                f"-I{PROTOS}",
                f"-I{well_known}",
                f"--python_out={scratch}",
                f"--grpc_python_out={scratch}",
                *(f"--plugin={name}={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")),
                f"--mypy_out=quiet:{scratch}",
                f"--mypy_grpc_out=quiet:{scratch}",
                *sources,
            ]
        )
        if status != 0:
            raise SystemExit(f"protoc failed with status {status}")
        for produced in sorted(Path(scratch, "lakeward").rglob("*")):
            if produced.is_dir():
                continue
            target = into / produced.relative_to(Path(scratch, "lakeward"))
            # a file without services gets an empty gRPC module; leaving it out keeps grpcio off its importers' path
            text = produced.read_text()
            if target.stem.endswith("_pb2_grpc") and "Stub" not in text:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(HEADER + _rename(text))
    for folder in [into, *(path for path in into.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").write_text(HEADER)
    (into / "py.typed").write_text("")


def _plugin(name: str) -> Path:
    """The plugin beside the running interpreter, whatever PATH says."""
    return Path(sys.executable).with_name(name)


def _rename(text: str) -> str:
    text = _FROM.sub(r"\1lakeward_protocol.", text)
    text = _IMPORT.sub(r"\1lakeward_protocol.", text)
    text = _CONTEXT.sub(r"\1context: _typing.Any,\n\1/,", text)
    return _QUALIFIED.sub("lakeward_protocol.", text)


def _differences(left: Path, right: Path) -> list[str]:
    names = {str(p.relative_to(root)) for root in (left, right) for p in root.rglob("*") if _counts(p)}
    return sorted(
        name
        for name in names
        if not (
            (left / name).is_file()
            and (right / name).is_file()
            and filecmp.cmp(left / name, right / name, shallow=False)
        )
    )


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def main() -> int:
    """0 when done or current, 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the committed code is stale")
    if parser.parse_args().check:
        with tempfile.TemporaryDirectory() as scratch:
            fresh = Path(scratch)
            generate(fresh)
            stale = _differences(fresh, OUT)
        for name in stale:
            print(f"stale: {name}", file=sys.stderr)
        if stale:
            print("run `make proto` and commit the result", file=sys.stderr)
        return 1 if stale else 0
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        generate(fresh)
        for name in _differences(fresh, OUT):  # only what differs is touched, so importers never see a gap
            if (fresh / name).exists():
                (OUT / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(fresh / name, OUT / name)
            else:
                (OUT / name).unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
