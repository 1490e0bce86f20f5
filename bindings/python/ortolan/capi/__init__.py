"""Where programs look for the exceptions: ortolan.capi.onnxruntime_pybind11_state."""
