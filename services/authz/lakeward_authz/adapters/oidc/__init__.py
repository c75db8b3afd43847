"""OpenID Connect: tokens verified with the keys that identity providers publish.

    signing_keys from a published key set to keys that verify
    discovery    reads what a provider publishes
    provider     one provider: its keys, kept fresh
    verifier     an IdentityProvider: verifies the tokens of one provider

Loads the cryptography and HTTP libraries, so bootstrap imports it only where a provider is configured.
"""
