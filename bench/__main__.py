"""`python -m bench`: measure, print the table, and fail where a floor is missed.

python -m bench                          everything; less than 40 minutes
python -m bench --quick                  a minute or two, to see that it works; its figures are worth nothing
python -m bench load_table commit        some of it
python -m bench --composition one        one process alone
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import psutil

from bench import (
    across,
    authz,
    big_metadata,
    commit,
    create,
    events,
    generic,
    layers,
    listing,
    load_table,
    management,
    memory,
    pods,
    reads,
    sign,
    store_client,
    strangers,
)
from bench.callers import callers
from bench.figures import Figure, Verdict, table
from bench.generators import MissingToolError, wrk_program
from bench.machine import this_machine
from bench.plan import FULL, QUICK, Plan
from bench.stack import Stack, lakeward, stack
from tests.support.installations import ROOT, Composition

BENCHES: Final = (
    load_table.BENCH,
    *reads.BENCHES,
    big_metadata.BENCH,
    commit.BENCH,
    create.BENCH,
    generic.BENCH,
    sign.BENCH,
    management.BENCH,
    authz.BENCH,
    events.BENCH,
    strangers.BENCH,
    memory.BENCH,
)
# by anybody, of one Lakeward that asks nobody's name
_BY_ANYBODY: Final = frozenset(
    {
        load_table.BENCH,
        commit.BENCH,
        create.BENCH,
        generic.BENCH,
        listing.BENCH,
        sign.BENCH,
        layers.BENCH,
        management.BENCH,
    }
)
# asked for by name: they explain figures, and are none
EXPLANATIONS: Final = (layers.BENCH, store_client.BENCH, pods.BENCH)
_LEFT: Final = ROOT / ".cache" / "bench.md"
_COMPOSITIONS: Final = {
    "one": (Composition.ONE_PROCESS,),
    "four": (Composition.FOUR_PROCESSES,),
    "both": tuple(Composition),
}


def main() -> int:
    """Measure what the command line asks for; 1 where a floor is missed."""
    arguments = _parser().parse_args()
    plan = QUICK if arguments.quick else FULL
    chosen = {name: getattr(arguments, name) for name in ("rounds", "seconds", "snapshots", "tables")}
    plan = dataclasses.replace(plan, **{name: value for name, value in chosen.items() if value is not None})
    benches = arguments.benches or list(BENCHES)
    with _home(arguments.keep) as home:
        try:
            figures = []
            for figure in _measured(home, plan, benches, _COMPOSITIONS[arguments.composition]):
                print(f"  {figure}", flush=True)
                figures.append(figure)
        except MissingToolError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 2
    print(f"\n{table(figures)}\n")
    _LEFT.parent.mkdir(exist_ok=True)
    _LEFT.write_text(f"{table(figures)}\n", encoding="utf-8")
    print(f"the table is in {_LEFT}")
    missed = [figure for figure in figures if figure.verdict is Verdict.MISSED]
    for figure in missed:
        print(f"bench: FLOOR MISSED: {figure.bench}: {figure.name}: {figure.value:.3g}, not {figure.floor:g}")
    return 1 if missed else 0


def _measured(home: Path, plan: Plan, benches: Sequence[str], compositions: Sequence[Composition]) -> Iterator[Figure]:
    wrk = wrk_program()
    cores = psutil.cpu_count() or 1
    if memory.BENCH in benches:
        with _told(memory.BENCH):
            yield from memory.run(home, plan)
    if set(benches) == {memory.BENCH}:
        return
    with stack(home) as parts:
        print(this_machine(postgres_programs=parts.postgres.programs, wrk=wrk))
        for bench in (store_client, authz):
            if bench.BENCH in benches:
                with _told(bench.BENCH):
                    yield from bench.run(parts, plan)
        yield from _of_compositions(parts, plan, benches, compositions, cores)
        # before a million events, which Postgres cleans up for minutes: what it does meanwhile would count as an append's
        if big_metadata.BENCH in benches:
            with _told(big_metadata.BENCH):
                yield from _big_metadata(parts, plan)
        if events.BENCH in benches:
            with _told(events.BENCH):
                yield from events.run(parts, plan, cores=cores)
        if pods.BENCH in benches:
            with _told(pods.BENCH), callers(parts, count=reads.TOKENS) as known:
                yield from pods.run(parts, known, plan, cores=cores)


def _of_compositions(
    parts: Stack, plan: Plan, benches: Sequence[str], compositions: Sequence[Composition], cores: int
) -> Iterator[Figure]:
    for composition in compositions:
        if set(benches) & _BY_ANYBODY:
            yield from _of_composition(parts, composition, plan, benches, cores)
        if wanted := _reads_of(composition, benches):
            with _told(f"{', '.join(wanted)}, {composition.value.replace('_', ' ')}"):
                yield from _reads(parts, composition, plan, wanted, cores)
        if strangers.BENCH in benches:
            with _told(f"{strangers.BENCH}, {composition}"):
                yield from strangers.run(parts, composition, plan)
    if len(compositions) > 1 and reads.LOAD_MANY in benches:
        with _told(f"{reads.LOAD_MANY}, side by side"):
            yield from across.run(parts, plan)


def _of_composition(
    parts: Stack, composition: Composition, plan: Plan, benches: Sequence[str], cores: int
) -> Iterator[Figure]:
    wanted: dict[str, Callable[[], Sequence[Figure]]] = {}
    with lakeward(parts, composition) as served:
        wanted[load_table.BENCH] = lambda: asyncio.run(load_table.run(served, plan, cores=cores))
        wanted[commit.BENCH] = lambda: asyncio.run(commit.run(served, plan, cores=cores))
        wanted[layers.BENCH] = lambda: asyncio.run(layers.run(served, plan))
        wanted[create.BENCH] = lambda: asyncio.run(create.run(served, plan, cores=cores))
        wanted[generic.BENCH] = lambda: asyncio.run(generic.run(served, plan, cores=cores))
        wanted[sign.BENCH] = lambda: asyncio.run(sign.run(served, plan, cores=cores))
        if composition is Composition.ONE_PROCESS:
            wanted[listing.BENCH] = lambda: asyncio.run(listing.run(served, plan, say=print))
            wanted[management.BENCH] = lambda: asyncio.run(management.run(served, plan))
        for bench, measure in wanted.items():
            if bench in benches:
                with _told(f"{bench}, {composition.value.replace('_', ' ')}"):
                    yield from measure()
                    yield from served.watch.figures(bench, composition)


def _reads_of(composition: Composition, benches: Sequence[str]) -> Sequence[str]:
    """Those of what many callers read that are measured in a composition: pages and `/config` in one process alone."""
    measured = reads.BENCHES if composition is Composition.ONE_PROCESS else (reads.LOAD_MANY,)
    return [bench for bench in measured if bench in benches]


def _reads(parts: Stack, composition: Composition, plan: Plan, benches: Sequence[str], cores: int) -> Sequence[Figure]:
    """Of a Lakeward that knows its callers."""
    with callers(parts, count=reads.TOKENS) as known, lakeward(known.behind(parts), composition) as served:
        figures = asyncio.run(reads.run(served, known, plan, benches, cores=cores))
        return [*figures, *served.watch.figures(benches[0], composition)]


def _big_metadata(parts: Stack, plan: Plan) -> Iterator[Figure]:
    """Built and loaded in one process; the appends in four, where the catalog's own cost can be told."""
    with lakeward(parts, Composition.ONE_PROCESS) as served:
        built = asyncio.run(big_metadata.build(served, plan, say=print))
        yield from asyncio.run(big_metadata.loads(served, built, plan))
        yield from served.watch.figures(big_metadata.BENCH, served.composition)
    with lakeward(parts, Composition.FOUR_PROCESSES) as served:
        yield from asyncio.run(big_metadata.loads(served, built, plan))[:-1]
        yield from asyncio.run(big_metadata.appends(served, built, plan))
        yield from served.watch.figures(big_metadata.BENCH, served.composition)


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    print(f"{what} ...", flush=True)
    began = time.monotonic()
    yield
    print(f"{what} took {time.monotonic() - began:.0f} s", flush=True)


@contextlib.contextmanager
def _home(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    made = Path(tempfile.mkdtemp(prefix="lakeward-bench-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, formatter_class=_Formatter)
    parser.add_argument(
        "benches", nargs="*", metavar="bench", choices=[[], *BENCHES, *EXPLANATIONS], help=", ".join(BENCHES)
    )
    parser.add_argument("--composition", choices=_COMPOSITIONS, default="both")
    parser.add_argument("--quick", action="store_true", help="see that it works; the figures are worth nothing")
    parser.add_argument("--rounds", type=int, help=f"of which medians are told; {FULL.rounds}")
    parser.add_argument("--seconds", type=float, help=f"of each leg under load; {FULL.seconds}")
    parser.add_argument("--snapshots", type=int, help=f"of big_metadata's table; {FULL.snapshots}")
    parser.add_argument("--tables", type=int, help=f"of the large namespace; {FULL.tables}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep data and logs here")
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    pass


if __name__ == "__main__":
    sys.exit(main())
