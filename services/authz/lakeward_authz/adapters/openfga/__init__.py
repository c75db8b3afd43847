"""OpenFGA: a server that answers point decisions from what it is fed out of authz's rows.

documents   the model as OpenFGA takes it
connection  a client of one store, with the model in it; failures as refusals
feeding     what the rows say, brought into the store
engine      the authorizer that asks it
"""
