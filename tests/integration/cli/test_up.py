"""`lakeward up`, as who types `make run` meets it: a process of its own, with everything that it starts."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest

from tests.integration.cli.conftest import First
from tests.support.up import SECONDS, Start, none_of, wait

pytestmark = pytest.mark.integration

READABLE = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


def test_the_first_start_has_a_demo_warehouse_and_ctrl_c_ends_all_that_it_started(first: First) -> None:
    assert len(first.children) >= 3, "Postgres, NATS and the store"
    assert first.namespaces == [["default"]]
    for shown in ("load_catalog", "spark-sql", "ATTACH 'demo'", "curl"):
        assert shown in first.said
    assert first.status == 0, first.said
    wait(none_of(first.children))


def test_after_a_kill_no_child_lives_and_the_next_start_has_everything(known: Start) -> None:
    up = known()
    up.ready()
    path = up.namespaces().request.url
    httpx.post(path, json={"namespace": ["kept"]}).raise_for_status()
    children = up.children()
    up.process.kill()
    up.process.wait()
    wait(none_of(children))
    again = known()
    again.ready()
    assert again.namespaces().json()["namespaces"] == [["default"], ["kept"]]


def test_a_component_that_dies_ends_it_with_a_word_of_which_and_why(known: Start) -> None:
    up = known()
    up.ready()
    children = up.children()
    os.kill(up.child("weed"), signal.SIGKILL)
    assert up.process.wait(timeout=SECONDS) == 69
    assert "weed ended with status -9" in up.said()
    wait(none_of(children))


def test_a_second_one_in_the_same_home_is_told_who_has_it(known: Start) -> None:
    up = known()
    up.ready()
    second = known()
    assert second.process.wait(timeout=SECONDS) == 69
    assert str(up.process.pid) in second.said()
    assert up.answers()


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
def test_it_runs_as_an_ordinary_user_too(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "theirs"
    home.mkdir()
    os.chown(home, 65534, 65534)
    deep = 3 if "PYTEST_XDIST_WORKER" in os.environ else 2  # a worker's folders lie in one of its own
    for folder in (tmp_path, *list(tmp_path.parents)[:deep]):
        folder.chmod(0o755)
    # the capability stands in for an interpreter that everybody may read
    up = start("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *READABLE, home=home)
    up.ready()
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in [up.process.pid, *up.children()]} == {65534}
    assert up.namespaces().is_success
