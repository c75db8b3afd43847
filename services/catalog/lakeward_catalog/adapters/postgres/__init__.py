"""The roles of `application.ports` on Postgres."""
