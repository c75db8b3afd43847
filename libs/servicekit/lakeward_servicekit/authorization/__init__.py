"""Who calls, and what they may: the values that services ask authz with, the roles they ask through, the clients.

    objects      ObjectKind, ObjectRef: what authz answers questions about
    actions      Action: what can be done to an object, and which action of a kind is to see it
    principals   Principal: who calls
    authorizer   Authorizer, the role use cases need; Demand, Outcome, VisibleSet; `require` and `refuse`
    identity     Identity, the role transports need; Identified
    registrar    Registrar, the role use cases record callers through; Presented
    wire         these values as messages and back
    remote       RemoteAuthorizer: an Authorizer over a channel
    remote_identity   RemoteIdentity: an Identity and a Registrar over a channel, with a cache of claims

Use cases import from `objects`, `actions`, `principals`, `authorizer` and `registrar` alone: none of those does I/O.
"""
