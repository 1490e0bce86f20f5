"""The name and version of the package."""
from ortolan import __version__  # noqa: F401

package_name = "onnxruntime"
