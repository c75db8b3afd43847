"""Stores and changes on Postgres."""
