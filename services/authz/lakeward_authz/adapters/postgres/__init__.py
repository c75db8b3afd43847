"""Authz's rows in Postgres: `schema` says what they are, `migrations` brings it there, `users` reads and writes them."""
