"""Which source a component is taken from, over all that a machine may offer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward_components.choice import FromBinary, FromContainer, FromUrl, Source, choose, sources
from lakeward_components.environment import TEST, UP, Component
from lakeward_components.errors import ComponentMisconfigured, ComponentUnavailable

PROGRAMS = Path("/opt/somewhere/bin")
components = pytest.mark.parametrize("component", list(Component))


@components
def test_a_url_wins_over_everything(component: Component) -> None:
    environment = {TEST.url(component): "x://host"}
    chosen = choose(component, environment=environment, names=TEST, containers=True, programs=PROGRAMS)
    assert chosen == FromUrl("x://host")


@components
def test_a_container_wins_over_a_binary(component: Component) -> None:
    chosen = choose(component, environment={}, names=TEST, containers=True, programs=PROGRAMS)
    assert chosen == FromContainer()


@components
def test_a_binary_is_taken_where_there_is_nothing_else(component: Component) -> None:
    chosen = choose(component, environment={}, names=TEST, containers=False, programs=PROGRAMS)
    assert chosen == FromBinary(PROGRAMS)


@components
def test_a_machine_that_has_nothing_is_told_every_cure(component: Component) -> None:
    with pytest.raises(ComponentUnavailable) as refused:
        choose(component, environment={}, names=TEST, containers=False, programs=None)
    message = str(refused.value)
    assert "pip install 'lakeward-components[" in message
    assert TEST.url(component) in message
    assert "Docker" in message


def test_an_empty_url_is_none() -> None:
    environment = {TEST.url(Component.NATS): ""}
    chosen = choose(Component.NATS, environment=environment, names=TEST, containers=False, programs=PROGRAMS)
    assert chosen == FromBinary(PROGRAMS)


def test_a_url_under_another_prefix_does_not_count() -> None:
    environment = {UP.url(Component.NATS): "nats://elsewhere"}
    chosen = choose(Component.NATS, environment=environment, names=TEST, containers=False, programs=PROGRAMS)
    assert chosen == FromBinary(PROGRAMS)


def test_sources_are_asked_in_the_order_in_which_they_are_listed() -> None:
    environment = {TEST.sources: "binary, url", TEST.url(Component.S3): "http://store"}
    chosen = choose(Component.S3, environment=environment, names=TEST, containers=True, programs=PROGRAMS)
    assert chosen == FromBinary(PROGRAMS)


def test_a_source_that_is_not_listed_is_neither_taken_nor_advised() -> None:
    environment = {TEST.sources: "url"}
    with pytest.raises(ComponentUnavailable) as refused:
        choose(Component.S3, environment=environment, names=TEST, containers=True, programs=PROGRAMS)
    assert "pip install" not in str(refused.value)


@pytest.mark.parametrize("listed", ["", "url,docker", "URL"])
def test_a_word_that_is_no_source_is_refused_with_those_that_are(listed: str) -> None:
    with pytest.raises(ComponentMisconfigured, match="url, container, binary"):
        sources({TEST.sources: listed}, names=TEST)


@given(
    url=st.sampled_from([None, "", "x://host"]),
    containers=st.booleans(),
    programs=st.sampled_from([None, PROGRAMS]),
    listed=st.none() | st.lists(st.sampled_from(list(Source)), min_size=1, unique=True),
)
def test_the_choice_is_the_first_listed_source_that_has_it(
    *, url: str | None, containers: bool, programs: Path | None, listed: list[Source] | None
) -> None:
    environment = {} if url is None else {TEST.url(Component.POSTGRES): url}
    if listed is not None:
        environment[TEST.sources] = ",".join(source.value for source in listed)
    offered = {
        Source.URL: FromUrl(url) if url else None,
        Source.CONTAINER: FromContainer() if containers else None,
        Source.BINARY: FromBinary(programs) if programs else None,
    }
    expected = next((offered[source] for source in listed or list(Source) if offered[source]), None)
    try:
        chosen = choose(
            Component.POSTGRES, environment=environment, names=TEST, containers=containers, programs=programs
        )
    except ComponentUnavailable:
        chosen = None
    assert chosen == expected
