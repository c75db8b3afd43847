"""Use cases, and the roles that they need filled."""
