"""Alembic revisions of the catalog's schema."""
