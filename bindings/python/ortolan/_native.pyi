"""The calls of the library, made by SWIG: private, and checked by use."""
from typing import Any

def __getattr__(name: str) -> Any: ...
