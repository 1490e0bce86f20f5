// Writes graphs as ONNX models.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace ortolan::onnx {
using namespace graph;

struct WriteOptions {
  /** The name of a file beside the model for the data of large initializers; empty: all are in the model. */
  std::string external_file;
  /** Initializers of at least so many bytes go there. */
  size_t external_threshold = 1024;
};

/** The model as the bytes of a ModelProto, whose initializers are in it. Throws kNotImplemented for what the format
    cannot say: a node of another operator set version than its domain's import (from a function). */
std::string write_model_bytes(const Model& model);
/** The same to a file, which is replaced only once all is written: it may be the one the model was read from. */
void write_model_file(const Model& model, const std::string& path, const WriteOptions& options = {});

}  // namespace ortolan::onnx
