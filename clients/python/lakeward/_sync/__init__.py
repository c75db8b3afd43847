# made by tools/generate_client.py from what stands in _async; do not edit
"""The client for asyncio and trio; `_sync` is the same text without its awaits."""
