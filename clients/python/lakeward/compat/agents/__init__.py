"""The public names of pylakekeeper 0.4's `agents`: what agents remember, and skills that somebody approves.

    from lakeward.compat.agents import MemoryStore, SkillStore

Both are kept in generic tables as they were there, so either reads what the other wrote. It needs Lance, pyarrow and boto3, or
the SDK of another cloud: `lakeward[lance,pyarrow,s3]`. `lakeward.compat.agents.langgraph` is the memory as a store of LangGraph.
"""

from __future__ import annotations

from lakeward.compat.agents.embedding import AgentsError, Embedder, EmbeddingMismatch, NoEmbedder
from lakeward.compat.agents.memory import PROP_EMBEDDING_DIM, PROP_EMBEDDING_MODEL, MemoryHit, MemoryStore
from lakeward.compat.agents.skills import (
    ProposedSkill,
    Skill,
    SkillNotFound,
    SkillStore,
    format_frontmatter,
    parse_frontmatter,
    path_safe,
    version_of,
)

__all__ = [
    "PROP_EMBEDDING_DIM",
    "PROP_EMBEDDING_MODEL",
    "AgentsError",
    "Embedder",
    "EmbeddingMismatch",
    "MemoryHit",
    "MemoryStore",
    "NoEmbedder",
    "ProposedSkill",
    "Skill",
    "SkillNotFound",
    "SkillStore",
    "format_frontmatter",
    "parse_frontmatter",
    "path_safe",
    "version_of",
]
