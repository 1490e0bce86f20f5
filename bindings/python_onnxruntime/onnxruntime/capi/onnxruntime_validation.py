"""What programs ask about the package and the system."""
from .build_and_package_info import __version__, package_name

cuda_version = ""


def check_distro_info():
    """Nothing: what the system must have, the package ortolan checks where it is imported."""


def get_package_name_and_version_info():
    """The package's name, its version, and the version of CUDA that it was built with: none."""
    return package_name, __version__, cuda_version


def check_training_module():
    """Whether the package can train, which it cannot, and what get_package_name_and_version_info says."""
    return False, *get_package_name_and_version_info()
