"""Postgres for every service: connections, failures as refusals, a schema of one's own.

pools      a pool of one role: connections for reading, for one statement that changes, for a transaction
failures   the one table from what Postgres and the network raise to what callers are told
addresses  from a URL to what asyncpg connects with, TLS included
statements the log of statements, without their parameters
schemas    what version a schema has, and whether this binary may serve on it
migrating  brings a service's schema to its newest version; imports Alembic, so only `migrate` imports it
"""
