"""Generic tables in Spark: Delta, Lance, Parquet, CSV and JSON by lines, read and written by executors in Python.

tables    what people call
writing   one job that writes, from its tasks to its commit
delta     its log
lances    its fragments
files     what Arrow reads and writes
store     a table's place as a file system whose every request has credentials of now
place     a table as executors reach it
types     Arrow's types as Spark takes them

Why in Python: Hadoop's S3A takes credentials once for each bucket and process, so they end with the job half done, unless a
class on every executor's class path renews them; and there is none for what a catalog hands out.
"""

from __future__ import annotations

from lakeward_pipelines.generic.place import Lake, Place
from lakeward_pipelines.generic.tables import FORMATS, GenericTables

__all__ = ["FORMATS", "GenericTables", "Lake", "Place"]
