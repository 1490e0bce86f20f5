"""What surrounds the module onnxruntime that this distribution installs: see python -m ortolan_onnxruntime --help."""
