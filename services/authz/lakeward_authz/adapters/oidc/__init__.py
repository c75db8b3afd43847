"""OpenID Connect: tokens verified with the keys that identity providers publish.

    algorithms   which signatures count, and for which keys
    signing_keys from a published key set to keys that verify
    discovery    reads what a provider publishes
    provider     one provider: its keys, kept fresh
    verifier     the Authenticator: finds the provider that owns a token, and verifies it

Loads the cryptography and HTTP libraries, so bootstrap imports it only where a provider is configured.
"""
