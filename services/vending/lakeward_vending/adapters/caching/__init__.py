"""Decorators over ports that remember answers.

loading   the cache itself: bounded, expiring, one load a key at a time
backends  clients of stores and minted credentials
secrets   secrets that warehouses refer to
"""
