"""The public HTTP dialects: each request becomes one call to a service, each reply one document.

Nothing here decides: rules, queries, permissions and secrets live behind the calls.
"""
