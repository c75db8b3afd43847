"""Spark jobs on a Lakeward that runs somewhere: they know its public API alone, and import none of its services.

java      the Java that Spark runs on
iceberg   Iceberg's own jars, by Maven coordinates, and how a Spark catalog is pointed at a warehouse
session   a Spark session with both
server    the Lakeward to work on: one that runs, or an embedded one
trips     a million taxi rides, the same ones each time
demo      ingests, queries, evolves and travels through them
audit     events of warehouses, in a table
generic   tables of other formats

`python -m lakeward_pipelines.demo` is what `make demo` runs.
"""
