"""The permission model: what follows from what was granted.

model.fga   the model, in OpenFGA's language; said there and nowhere else
language    reads that language
compiled    the model as tables, for deciding in this process
lakeward    the model that this release runs, and which relation each action asks for
"""
