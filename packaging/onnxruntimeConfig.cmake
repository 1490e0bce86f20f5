# CMake package onnxruntime, for programs that are written for ONNX Runtime: the target onnxruntime::onnxruntime.
include(CMakeFindDependencyMacro)
find_dependency(ortolan PATHS ${CMAKE_CURRENT_LIST_DIR}/../ortolan NO_DEFAULT_PATH)
include(${CMAKE_CURRENT_LIST_DIR}/onnxruntimeTargets.cmake)
