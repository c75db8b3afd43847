"""Real components without a container engine: Postgres, NATS with JetStream, an S3 store with STS, an OIDC provider, OpenFGA.

Each of `postgres`, `nats`, `seaweedfs`, `oidc` and `openfga` has the same two doors:

    server = await postgres.start(folder)            # a frozen value: urls, credentials, pid
    await server.stop()

    async with postgres.running(folder) as server:   # the same, stopped at the end
        ...

A folder belongs to one component and keeps its data, its ports and its passwords, so that a second start finds what the
first one made. `blocking.running` opens the same doors without an event loop. `embedded.components` starts what the
embedded mode needs, at once. `choice` decides whether a component comes from a URL, a container or a binary;
`environment` lists the variables.

Servers are children of the thread that starts them and die with it, whatever kills it (see `child`). So start them from
the main thread.
"""
