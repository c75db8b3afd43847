"""Pictures, what a model sees in them, what is measured, and what happened: four formats, under one set of rights.

    images       a dataset    the files as they are
    embeddings   Lance        captions, vectors and thumbnails, searched by likeness
    features     Delta        numbers for training
    facts        Iceberg      what the business knows

Run it whole, or cell by cell in a notebook, against a Lakeward that asks callers who they are, as `lakeward up --secure` does:

    export LAKEWARD_URL=http://127.0.0.1:8181
    export OWNER_TOKEN=$(lakeward token writer) COLLEAGUE_TOKEN=$(lakeward token reader) ADMIN_TOKEN=$(lakeward token admin)
    python examples/multimodal.py

It needs `pip install 'lakeward[pyiceberg,lance,delta,obstore,pyarrow]'`.
"""

# ruff: noqa: T201, E402 - a notebook prints, and imports what a cell needs where it is read

# %% Three people. None of them has a key of the store: Lakeward lends short-lived ones, for one table each.
from __future__ import annotations

import os
import secrets
import struct
import tempfile
import zlib
from pathlib import Path

import pyarrow as pa

from lakeward import Client

URL = os.environ["LAKEWARD_URL"]
WAREHOUSE = os.environ.get("LAKEWARD_WAREHOUSE", "demo")
NAMESPACE = os.environ.get("LAKEWARD_NAMESPACE", f"pets_{secrets.token_hex(3)}")

owner = Client(URL, auth=os.environ["OWNER_TOKEN"])
colleague = Client(URL, auth=os.environ["COLLEAGUE_TOKEN"])
admin = Client(URL, auth=os.environ["ADMIN_TOKEN"])

lake = owner.warehouse(WAREHOUSE)
lake.create_namespace(NAMESPACE)

# %% Some pictures: squares of one colour each, so that likeness can be seen.
COLOURS = {
    "red": (220, 30, 40),
    "rose": (230, 60, 90),
    "green": (30, 200, 60),
    "blue": (20, 40, 210),
    "navy": (10, 20, 120),
}
SIDE = 32


def png(colour: tuple[int, int, int], side: int) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


folder = Path(tempfile.mkdtemp())
for name, colour in COLOURS.items():
    (folder / f"{name}.png").write_bytes(png(colour, SIDE))

# %% The pictures become a dataset: a directory, with a place and rights. `lakeward cp` does the same in a shell.
from lakeward import transfers

images = lake.generic.create(NAMESPACE, "images", format="dataset", doc="one file a pet")
store = images.access().obstore()
transfers.upload(transfers.uploads(folder, store), store)

# %% Embeddings become a Lance table: text, vectors, bytes and numbers beside each other.
import lance

embeddings = lake.generic.create(NAMESPACE, "embeddings", format="lance", properties={"embedding-dim": "3"})
rows = pa.table(
    {
        "id": pa.array(range(len(COLOURS)), pa.int64()),
        "caption": [f"a {name} pet" for name in COLOURS],
        "vector": pa.array([[part / 255 for part in colour] for colour in COLOURS.values()], pa.list_(pa.float32(), 3)),
        "thumbnail": [png(colour, 4) for colour in COLOURS.values()],
    }
)
lance.write_dataset(rows, mode="overwrite", **embeddings.access().lance())

# %% Features become a Delta table.
import deltalake

features = lake.generic.create(NAMESPACE, "features", format="delta")
rows = pa.table({"id": range(len(COLOURS)), "brightness": [sum(colour) / 765 for colour in COLOURS.values()]})
at = features.access().deltalake()
deltalake.write_deltalake(at["table_uri"], rows, storage_options=at["storage_options"])

# %% Facts become an Iceberg table.
rows = pa.table({"id": pa.array(range(len(COLOURS)), pa.int64()), "price": [120.0, 80.0, 95.5, 60.0, 75.0]})
facts = lake.pyiceberg().create_table(f"{NAMESPACE}.facts", rows.schema)
facts.append(rows)

# %% The colleague may read everything, and change all but the features.
from lakeward.management import models

# Who calls for the first time makes themselves known, so that others may give them rights.
me = colleague.management.operations.create_user(models.CreateUserRequest.model_validate({"update-if-exists": True}))

warehouse_id = admin.management.warehouses.id_of(WAREHOUSE)
may_modify = models.ApplyGrantsRequest.model_validate(
    {"writes": [{"principal": {"user": me.id}, "privilege": "modify"}]}
)
for table in (images, embeddings):
    admin.management.operations.apply_generic_table_grants(warehouse_id, str(table.info.id), may_modify)
admin.management.operations.apply_table_grants(warehouse_id, str(facts.metadata.table_uuid), may_modify)

# %% The colleague reads all four, through one client.
theirs = colleague.warehouse(WAREHOUSE)
access = {name: theirs.generic.load(NAMESPACE, name).access() for name in ("images", "embeddings", "features")}

vectors = lance.dataset(**access["embeddings"].lance())
nearest = vectors.to_table(
    nearest={"column": "vector", "q": [0.88, 0.2, 0.3], "k": 2}, columns=["id", "caption"]
).to_pylist()
print("most like rose:", ", ".join(found["caption"] for found in nearest))

brightness = deltalake.DeltaTable(**access["features"].deltalake()).to_pyarrow_table().to_pylist()
prices = theirs.pyiceberg().load_table(f"{NAMESPACE}.facts").scan().to_arrow().to_pylist()
by_id = {row["id"]: row for row in brightness}
for found in prices:
    by_id[found["id"]].update(found)
print("brightness and price:", [(round(row["brightness"], 2), row["price"]) for row in by_id.values()])

import obstore

picture = bytes(obstore.get(access["images"].obstore(), "rose.png").bytes())
print("a picture of", len(picture), "bytes, as it was:", picture == (folder / "rose.png").read_bytes())

# %% They add a picture, a vector and a fact.
obstore.put(access["images"].obstore(), "violet.png", png((120, 20, 200), SIDE))
violet = {"id": 5, "caption": "a violet pet", "vector": [0.47, 0.08, 0.78], "thumbnail": png((120, 20, 200), 4)}
lance.write_dataset(
    pa.Table.from_pylist([violet], vectors.schema),
    mode="append",
    **theirs.generic.load(NAMESPACE, "embeddings").access().lance(),
)
theirs.pyiceberg().load_table(f"{NAMESPACE}.facts").append(pa.table({"id": pa.array([5], pa.int64()), "price": [99.0]}))
print("captions by now:", lance.dataset(**access["embeddings"].lance()).count_rows())

# %% The features they may not change. Nobody stops them here: the credentials that they were lent do not write.
at = access["features"].deltalake()
try:
    deltalake.write_deltalake(
        at["table_uri"],
        pa.table({"id": [5], "brightness": [0.4]}),
        storage_options=at["storage_options"],
        mode="append",
    )
except (OSError, deltalake.exceptions.DeltaError) as error:
    print("features stay as they are:", type(error).__name__)
else:
    raise SystemExit("a reader wrote")
print("features:", len(deltalake.DeltaTable(**at).to_pyarrow_table()))

# %%
for client in (owner, colleague, admin):
    client.close()
