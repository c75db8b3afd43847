"""SCIM 2.0 (RFC 7643, RFC 7644), as identity providers send people and groups."""
