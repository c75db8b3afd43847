"""Storage secrets in a KV v2 engine of OpenBao or Vault.

place    where in the engine they lie            logins   how this process proves itself
session  the token that it gets for that         vault    the `Vault` itself

Loads the HTTP library, so bootstrap imports it only where a KV v2 store is configured.
"""
