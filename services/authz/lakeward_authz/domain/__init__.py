"""Authz's rules: no I/O, no framework, no clock of their own."""
