"""What all models of the management API have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lakeward.errors import AnswerError


class Model(BaseModel):
    """A document. What a newer server says beside what this client knows is kept, and sent back."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    def wire(self) -> Mapping[str, Any]:
        """The document as it is sent: what was not set is left out, which is not the same as null."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


_Kind = TypeVar("_Kind", bound=Model)


def read(kind: type[_Kind], content: bytes) -> _Kind:
    """An answer as a model.

    Raises:
        AnswerError: it is something else. The values are not told: some are secrets.
    """
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the document'}: {each['msg']}"
            for each in error.errors(include_input=False)
        )
        raise AnswerError(f"the answer is no {kind.__name__}: {wrong[:1_000]}") from None
