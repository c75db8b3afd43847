"""View metadata, format version 1: the value, creation, and commits."""
