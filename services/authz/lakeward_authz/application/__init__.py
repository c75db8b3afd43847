"""Authz's use cases, and the roles they need filled."""
