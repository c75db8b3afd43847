"""Use cases of vending, and the ports that they need.

A use case is a frozen class that holds its parts, and is called with a command and with whose authority that has: `permit`, which
the catalog signed, or for staging a credential `caller`, a user. Those that take neither are the catalog's alone to call.
"""
