"""Kubernetes: service accounts, known by what the cluster's API server says of their tokens.

    cluster    where the API server is, and what this process proves itself to it with
    reviews    asks the API server about one token (TokenReview), once for all who wait, and remembers it for seconds
    verifier   an IdentityProvider: whose tokens are reviewed, and whom they name

Loads the HTTP library, so bootstrap imports it only where Kubernetes is configured.
"""
