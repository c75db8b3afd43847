"""Memories and skills of agents, with pylakekeeper's names and with ours in their place: either reads what the other wrote."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import pylakekeeper
import pylakekeeper.agents
import pytest
import requests
from langgraph.store.base import BaseStore
from pylakekeeper.agents.langgraph import LakekeeperStore as TheirStore

from lakeward import compat
from lakeward.compat import agents
from lakeward.compat.agents.langgraph import LakekeeperStore
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward

pytestmark = pytest.mark.e2e

PACKAGES: dict[str, tuple[Any, Any, Any]] = {
    "pylakekeeper": (pylakekeeper, pylakekeeper.agents, TheirStore),
    "compat": (compat, agents, LakekeeperStore),
}
ORDERS = [("pylakekeeper", "compat"), ("compat", "pylakekeeper")]


class Counting:
    """How often the letters e, a and o are in a text."""

    def __init__(self, model: str = "letters") -> None:
        self.model = model

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [[float(text.count(letter)) for letter in "eao"] for text in texts]


@pytest.fixture(autouse=True)
def one_composition(lakeward: Lakeward) -> None:
    if lakeward.composition is not Composition.ONE_PROCESS:
        pytest.skip("what agents keep is the same in every composition")


@pytest.fixture
def namespace(lakeward: Lakeward) -> str:
    top = f"agents_{secrets.token_hex(4)}"
    for parts in ([top], [top, "proposed"]):
        requests.post(lakeward.namespaces, json={"namespace": parts}, timeout=30).raise_for_status()
    return top


@pytest.fixture(scope="module")
def clients(lakeward: Lakeward) -> Iterator[dict[str, Any]]:
    made = {
        name: sdk.Client(base_url=lakeward.url, warehouse=lakeward.warehouse_id, auth=sdk.StaticToken("dev"))
        for name, (sdk, _, _) in PACKAGES.items()
    }
    yield made
    for each in made.values():
        each.close()


@pytest.mark.parametrize(("writer", "reader"), ORDERS)
def test_what_one_remembers_the_other_finds(writer: str, reader: str, clients: dict[str, Any], namespace: str) -> None:
    first, second = (
        PACKAGES[name][1].MemoryStore(clients[name], namespace, embed=Counting()) for name in (writer, reader)
    )
    first.ensure_tables()
    second.ensure_tables()
    assert second.search("e") == []
    first.put("notes/e.md", "eee", metadata={"of": "e"})
    second.put("notes/o.md", "ooo")
    first.put("notes/hidden.md", "eeee", index=False)
    first.put("notes/e.md", "eeee", metadata={"of": "e's"})
    for store in (first, second):
        assert sorted(store.list("notes/")) == ["notes/e.md", "notes/hidden.md", "notes/o.md"]
        assert store.get("notes/e.md") == "eeee"
        found = store.search("eeee", k=2)
        assert [(hit.path, hit.text, hit.metadata) for hit in found] == [
            ("notes/e.md", "eeee", {"of": "e's"}),
            ("notes/o.md", "ooo", {}),
        ]
        assert (found[0].distance, found[0].scope) == (0.0, namespace)
    second.delete("notes/e.md")
    assert [hit.path for hit in first.search("e")] == ["notes/o.md"]


def test_vectors_of_another_model_are_neither_searched_nor_mixed(clients: dict[str, Any], namespace: str) -> None:
    client = clients["compat"]
    store = agents.MemoryStore(client, namespace, embed=Counting())
    store.ensure_tables()
    store.put("a", "e")
    other = agents.MemoryStore(client, namespace, embed=Counting("others"))
    for refused in (lambda: other.search("e"), lambda: other.put("b", "o")):
        with pytest.raises(agents.EmbeddingMismatch):
            refused()
    assert store.list() == ["a"]
    with pytest.raises(agents.EmbeddingMismatch):
        agents.MemoryStore.search_many([store, other], "e")
    silent = agents.MemoryStore(client, namespace)
    silent.put("b", "o")
    with pytest.raises(agents.NoEmbedder):
        silent.search("o")
    with pytest.raises(compat.NotFoundError):
        silent.get("c")
    absent = agents.MemoryStore(client, f"{namespace}.proposed", embed=Counting())
    assert [hit.path for hit in agents.MemoryStore.search_many([absent, store], "e")] == ["a"]
    store.put("a", "e", index=False)
    assert store.search("e") == []


@pytest.mark.parametrize(("agent", "approver"), ORDERS)
def test_skills_that_one_proposes_the_other_approves(
    agent: str, approver: str, clients: dict[str, Any], namespace: str
) -> None:
    proposing, approving = (
        PACKAGES[name][1].SkillStore(clients[name], namespace, proposer=who)
        for name, who in ((agent, "oidc~agent/1"), (approver, "oidc~boss"))
    )
    for each in (proposing, approving):
        each.ensure_tables()
    for body in ("Add them up.", "Add them up. Twice.", "Add them up."):
        proposed = proposing.propose("sums", body, description="adds: numbers")
        assert proposed.frontmatter["proposed-by"] == "oidc~agent/1"
    assert approving.list_proposed() == []
    found = approving.list_proposed(proposer="oidc~agent/1", name="sums")
    assert [each.version for each in found] == [each.version for each in proposing.list_proposed()]
    assert len(found) == 2
    wanted, unwanted = sorted(found, key=lambda each: each.version != proposed.version)
    assert approving.approve(wanted).body == proposed.body
    approving.reject(unwanted, "once is enough")
    loaded = proposing.load("sums")
    assert (loaded.body, loaded.version, loaded.proposer) == (proposed.body, proposed.version, "oidc~agent/1")
    assert (loaded.description, proposing.list()) == ("adds: numbers", ["sums"])
    assert proposing.list_rejected() == [("sums", unwanted.version)]
    approving.revoke("sums")
    assert proposing.load_all() == []
    with pytest.raises(PACKAGES[agent][1].SkillNotFound):
        proposing.load("sums")


@pytest.mark.parametrize(("writer", "reader"), ORDERS)
def test_a_store_of_langgraph_holds_what_either_put(
    writer: str, reader: str, clients: dict[str, Any], namespace: str
) -> None:
    stores: list[BaseStore] = []
    for name in (writer, reader):
        memory = PACKAGES[name][1].MemoryStore(clients[name], namespace, embed=Counting())
        memory.ensure_tables()
        stores.append(PACKAGES[name][2](memory))
    first, second = stores
    first.put(("memories", "ann"), "1", {"text": "eee", "kind": "note"})
    second.put(("memories", "bob"), "1", {"text": "ooo", "kind": "note"})
    second.put(("memories", "ann"), "2", {"text": "aaa", "kind": "fact"}, index=False)
    first.put(("memories", "ann"), "1", {"text": "eeee", "kind": "note"})
    for store in stores:
        kept = store.get(("memories", "ann"), "1")
        assert kept is not None
        assert (kept.value, kept.updated_at > kept.created_at) == ({"text": "eeee", "kind": "note"}, True)
        assert store.get(("memories", "ann"), "3") is None
        assert store.list_namespaces() == [("memories", "ann"), ("memories", "bob")]
        assert store.list_namespaces(suffix=("bob",), max_depth=1) in (
            [("memories",)],
            [],
        )  # theirs cuts before it looks
        nearest = store.search(("memories",), query="eeee", limit=1)
        assert [(each.namespace, each.key) for each in nearest] == [(("memories", "ann"), "1")]
        assert {each.key for each in store.search(("memories", "ann"), filter={"kind": "fact"})} == {"2"}
    ours = stores[(writer, reader).index("compat")]
    assert ours.list_namespaces(suffix=("bob",), max_depth=1) == [("memories",)]
    assert ours.search(("memories", "an")) == []
    ours.delete(("memories", "bob"), "1")
    assert first.get(("memories", "bob"), "1") is None


async def test_a_store_of_langgraph_answers_while_others_go_on(clients: dict[str, Any], namespace: str) -> None:
    memory = agents.MemoryStore(clients["compat"], namespace)
    memory.ensure_tables()
    store = LakekeeperStore(memory)
    await store.aput(("a",), "k", {"n": 1})
    found = await store.aget(("a",), "k")
    assert found is not None
    assert found.value == {"n": 1}
    for namespace_, key in ((("a/b",), "k"), (("",), "k"), (("a",), "k/2"), (("a",), "")):
        with pytest.raises(ValueError, match="part of a path"):
            store._get(namespace_, key)
