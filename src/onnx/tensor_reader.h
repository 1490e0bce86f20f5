// TensorProto, SparseTensorProto and TypeProto.
#pragma once

#include "graph/type_info.h"
#include "onnx/external_data.h"

namespace ortolan::onnx {

class TensorReader {
 public:
  /** `model` is where the messages lie; both must outlive the reader. */
  TensorReader(const ReadOptions& options, const Blob& model, ExternalFiles& files)
      : options_(options), model_(model), files_(files) {}

  /** The tensor's name without reading more. */
  static std::string_view name_in(Bytes message);
  /** A sparse tensor's name: that of its values. */
  static std::string_view sparse_name_in(Bytes message);
  /** The tensor; errors name it. */
  Tensor read(Bytes message);
  /** Throws unless a value that comes from elsewhere has the tensor's type and shape. */
  static void check_replacement(Bytes message, const Tensor& value);
  /** A sparse tensor in COO form, indices checked. */
  std::shared_ptr<SparseTensor> read_sparse(Bytes message);
  /** A sparse tensor made dense. */
  Tensor densify(const SparseTensor& sparse);

 private:
  struct Parts;
  Tensor from_parts(const Parts& parts);
  Tensor from_typed(const Parts& parts, Shape shape);
  static void fill_typed(Tensor& tensor, const Parts& parts, size_t count, std::string_view field);

  const ReadOptions& options_;
  const Blob& model_;
  ExternalFiles& files_;
  int64_t expanded_ = 0;
};

/** The element type with ONNX's number, kUndefined for others. */
ElementType element_type_numbered(int64_t number);
/** What named dimensions become: the number that the options give, else a symbol, or unknown without a table. */
struct DimensionNames {
  SymbolTable* symbols;
  const ReadOptions* options;
  Dim dimension(std::string_view name, std::string_view denotation) const;
};
/** A TypeProto. */
TypeInfo read_type(Bytes message, const DimensionNames& names, int depth = 0);

}  // namespace ortolan::onnx
