"""Attributes of options that are set in the library's objects."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Optional, TypeVar, overload

T = TypeVar("T")


class Setting(Generic[T]):
    """An attribute that is kept here and set in the library's object."""

    def __init__(self, default: T, convert: Callable[[Any], T], apply: Callable[[Any, T], Any], doc: str) -> None:
        self._default, self._convert, self._apply = default, convert, apply
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = "_" + name

    @overload
    def __get__(self, instance: None, owner: Optional[type] = None) -> Setting[T]: ...

    @overload
    def __get__(self, instance: object, owner: Optional[type] = None) -> T: ...

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        return self if instance is None else instance.__dict__.get(self._name, self._default)

    def __set__(self, instance: Any, value: T) -> None:
        value = self._convert(value)
        self._apply(instance._handle, value)
        instance.__dict__[self._name] = value

    def is_set(self, instance: Any) -> bool:
        """Whether a program gave it a value."""
        return self._name in instance.__dict__


def only_kept(handle: Any, value: Any) -> None:
    """For settings of a runtime that plans its memory in another way: they are accepted and change nothing."""


class Options:
    """Options refuse attributes that they do not have, so that a slip of the pen is not a setting that does nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        super().__setattr__(name, value)
