"""Authz's migrations, in `versions/`; `lakeward.servicekit.postgres.migrating` runs them."""
