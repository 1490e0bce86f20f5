// A case of ONNX's test data whose model is one node, to be rewritten for other element types.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/library.h"
#include "convert.h"

namespace ortolan::type_matrix {

/** A type parameter of the operator, as the case uses it. */
struct Parameter {
  std::string name;
  std::vector<ElementType> allowed;  // by the specification
  std::vector<size_t> inputs;        // graph inputs that have the type
  ElementType type;                  // what they are in the case
};

class OneNode {
 public:
  /** Throws unless the model is one node without subgraphs. */
  explicit OneNode(const std::string& path);
  ~OneNode();

  std::string domain() const;
  std::string name() const;
  /** The type parameters of the node's inputs. None for an operator that the library does not know. */
  std::vector<Parameter> parameters(const Library& library) const;
  /** The type parameter of each output of the graph, "" where it has none. */
  std::vector<std::string> output_parameters(const Library& library) const;
  /** Writes the model to a file, with `inputs` of another element type and outputs of any. */
  void write(const std::string& path, const std::vector<size_t>& inputs, ElementType type) const;

 private:
  struct Model;
  Handle<OrtOpSchema> schema_of(const Library& library) const;
  std::unique_ptr<Model> model_;
};

}  // namespace ortolan::type_matrix
