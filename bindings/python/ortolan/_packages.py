"""Model packages: folders with a manifest, whose components are models in variants for different providers."""
from __future__ import annotations

import os
from typing import Any, Optional

from . import _native
from ._environment import Path, default_environment
from ._options import SessionOptions
from ._providers import texts
from ._session import InferenceSession


class ModelPackageOptions:
    """The providers, of session options, that variants are chosen for."""

    def __init__(self, sess_options: SessionOptions) -> None:
        if not isinstance(sess_options, SessionOptions):
            raise TypeError(f"SessionOptions are needed, not '{type(sess_options).__name__}'")
        self._handle = _native.create_package_options(default_environment()._handle, sess_options._handle)
        _native.keep(self._handle, sess_options._handle)


class ModelPackageComponentContext:
    """A component in the variant that was chosen, made by ModelPackageContext.select_component."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def get_selected_variant_name(self) -> str:
        """The name of the variant."""
        return _native.selected_variant(self._handle)

    def get_selected_variant_folder_path(self) -> str:
        """Its folder; empty where it has none."""
        return _native.selected_folder(self._handle) or ""

    def create_session(self, sess_options: Optional[SessionOptions] = None) -> InferenceSession:
        """A session of the variant's model: with the package's options, or with these."""
        return InferenceSession._of_component(self._handle, sess_options)


class ModelPackageContext:
    """A package that is open for reading. Models are opened by sessions alone."""

    def __init__(self, package_root: Path) -> None:
        self._handle = _native.open_package(os.fsencode(package_root))

    def get_schema_version(self) -> int:
        """The first number of the manifest's version."""
        return _native.package_schema_version(self._handle)

    def get_component_names(self) -> list[str]:
        """The components."""
        return texts(_native.package_components(self._handle))

    def get_component_count(self) -> int:
        """How many components there are."""
        return len(self.get_component_names())

    def get_variant_names(self, component_name: str) -> list[str]:
        """The variants of a component."""
        return texts(_native.package_variants(self._handle, component_name))

    def get_variant_count(self, component_name: str) -> int:
        """How many variants a component has."""
        return len(self.get_variant_names(component_name))

    def get_variant_ep_name(self, component_name: str, variant_name: str) -> Optional[str]:
        """The provider that a variant is for."""
        return _native.package_variant_provider(self._handle, component_name, variant_name)

    def resolve_string_ref(self, string_ref: str, base_dir: Optional[str] = None, must_exist: bool = False) -> str:
        """Where a path that the package names leads, from `base_dir` or the package's folder."""
        return _native.package_path(self._handle, base_dir, string_ref, must_exist)

    def select_component(self, component_name: str, options: ModelPackageOptions) -> ModelPackageComponentContext:
        """A component in the variant that fits the options best."""
        if not isinstance(options, ModelPackageOptions):
            raise TypeError(f"ModelPackageOptions are needed, not '{type(options).__name__}'")
        handle = _native.select_component(self._handle, component_name, options._handle)
        _native.keep(handle, (self._handle, options._handle))
        return ModelPackageComponentContext(handle)
