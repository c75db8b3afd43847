"""Secrets in Postgres, encrypted before they get there.

secrets     the SecretStore          sealing   AES-256-GCM under a ring of keys
schema      the tables, as SQLAlchemy describes them          migrations   how they came to be
"""
