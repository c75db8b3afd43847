"""Use cases of vending, and the ports that they need.

A use case is a frozen class that holds its roles, and is called with what is asked and with whose authority that is: `permit`,
which the catalog signed, or for staging a credential `caller`, a user. Those that take neither are the catalog's alone to call.
"""
