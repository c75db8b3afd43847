"""What stores refuse, as classes where a use case goes on after it; every other reason stays with who raises it."""

from __future__ import annotations

from lakeward_servicekit.errors import Reason, Refusal


class StoreUnavailable(Refusal):
    """A store can't be reached, or is failing."""

    def __init__(self, message: str, *, store: str) -> None:
        """Refuse for `store`; `message` says what is wrong with it."""
        super().__init__(Reason.REASON_STORE_UNAVAILABLE, message, store=store)


class StoreDenied(Refusal):
    """A store refuses a credential."""

    def __init__(self, store: str) -> None:
        """Refuse for `store`."""
        super().__init__(
            Reason.REASON_STORE_DENIED,
            f"the store {store} refused the credential; check its rights on the bucket",
            store=store,
        )


class SecretStoreUnavailable(Refusal):
    """The store of storage secrets can't be reached, is sealed, or lets us not in."""

    def __init__(self, message: str, *, store: str) -> None:
        """Refuse for `store`; `message` says what is wrong with it."""
        super().__init__(Reason.REASON_SECRET_STORE_UNAVAILABLE, message, store=store)


class FileExists(Refusal):
    """Another file is where one was to be written."""

    def __init__(self, location: str) -> None:
        """Refuse for the file at `location`."""
        super().__init__(Reason.REASON_FILE_EXISTS, f"another file is at {location} already", location=location)


class FileTooLarge(Refusal):
    """A file is larger than what is read of it."""

    def __init__(self, location: str, limit: int) -> None:
        """Refuse for the file at `location`, of which at most `limit` bytes are read."""
        super().__init__(
            Reason.REASON_FILE_UNREADABLE,
            f"the file {location} is over {limit} bytes, which is the most that is read",
            location=location,
        )
