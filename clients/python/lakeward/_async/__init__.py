"""The client for asyncio and trio; `_sync` is the same text without its awaits."""
