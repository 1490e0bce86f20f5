# The names of ONNX Runtime's CMake package for the targets of the package ortolan.
if(NOT TARGET onnxruntime::onnxruntime)
  add_library(onnxruntime::onnxruntime ALIAS ortolan::ortolan)
endif()
