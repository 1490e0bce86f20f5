"""What sessions tell about themselves."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _native
from ._providers import texts
from ._types import Dimension


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a model: `type` such as "tensor(float)", `shape` with an int, the name of a symbolic
    dimension, or None for each dimension."""

    name: str
    type: str
    shape: list[Dimension]


@dataclass(frozen=True)
class ModelMetadata:
    """What a model says about itself."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


@dataclass(frozen=True)
class NodeAssignment:
    """A node of the rewritten model, and the provider that runs it."""

    provider: str
    node: str
    domain: str
    op_type: str


@dataclass(frozen=True)
class OrtEpAssignedNode:
    """A node of the rewritten model."""

    name: str
    domain: str
    op_type: str


@dataclass(frozen=True)
class OrtEpAssignedSubgraph:
    """Nodes of the rewritten model that a provider runs together."""

    ep_name: str
    nodes: tuple[OrtEpAssignedNode, ...]

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        """The nodes."""
        return list(self.nodes)


def read_metadata(session: Any) -> ModelMetadata:
    handle = _native.create_metadata(session)
    custom = {key: _native.metadata_value(handle, key) for key in texts(_native.metadata_keys(handle))}
    return ModelMetadata(
        _native.metadata_producer(handle), _native.metadata_graph_name(handle), _native.metadata_domain(handle),
        _native.metadata_description(handle), _native.metadata_graph_description(handle),
        _native.metadata_version(handle), custom)
