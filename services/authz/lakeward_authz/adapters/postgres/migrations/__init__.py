"""Authz's migrations, in `versions/`; `lakeward_servicekit.postgres.migrating` runs them."""
