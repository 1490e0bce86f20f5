"""python -m ortolan_onnxruntime: has pip take the module onnxruntime for the package onnxruntime; adds others' files."""
import argparse
import pathlib
import sys
import tempfile

from .claims import ClaimError, check, claim, write_wheel
from .files import FOLDERS, FilesError, add

ABOUT = "What packages that require the distribution onnxruntime need to be installed over ortolan-onnxruntime."


def make_parser():
    parser = argparse.ArgumentParser(prog="python -m ortolan_onnxruntime", description=ABOUT)
    verbs = parser.add_subparsers(dest="verb", required=True)
    takes = verbs.add_parser("claim", help="have pip install a package onnxruntime in this environment that holds nothing: "
                             "pip then takes the requirement of packages that need onnxruntime for fulfilled")
    wheel = verbs.add_parser("wheel", help="write that package as a wheel into a folder, for pip's --find-links")
    wheel.add_argument("folder", type=pathlib.Path)
    for verb in (takes, wheel):
        verb.add_argument("--version", help="the version that it has (default: that of ortolan)")
    verbs.add_parser("check", help="fail unless the module onnxruntime is this one: another package may have been put over it")
    files = verbs.add_parser("add", help=f"copy the folders {', '.join(FOLDERS)}, which are Python alone, from the wheel or "
                             "folder of another package onnxruntime into the module")
    files.add_argument("source", type=pathlib.Path, help="a wheel, or a folder with the module onnxruntime in it")
    files.add_argument("names", nargs="*", metavar="FOLDER", help="which (default: all)")
    return parser


def run(arguments):
    """What the verb has to say."""
    if arguments.verb == "check":
        return check()
    if arguments.verb == "add":
        return f"added to {add(arguments.source, arguments.names or FOLDERS)}"
    if arguments.verb == "wheel":
        path = write_wheel(arguments.folder, arguments.version)
        return f"{path}\npip install --find-links {arguments.folder} onnxruntime=={path.name.split('-')[1]} PACKAGE..."
    with tempfile.TemporaryDirectory() as folder:
        return claim(pathlib.Path(folder), arguments.version)


def main():
    try:
        print(run(make_parser().parse_args()))
    except (ClaimError, FilesError, OSError) as error:
        sys.exit(f"ortolan_onnxruntime: {error}")


if __name__ == "__main__":
    main()
