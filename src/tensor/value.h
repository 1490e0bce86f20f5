// A value of any ONNX type: what flows along the edges of a graph and across the API.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace ortolan::tensor {

class Value;

/** Numbers are those of ONNXType. */
enum class ValueKind : uint8_t {
  kNone = 0,
  kTensor = 1,
  kSequence = 2,
  kMap = 3,
  kOpaque = 4,
  kSparse = 5,
  kOptional = 6
};

struct Map;

/** Numbers are those of OrtSparseFormat. */
enum class SparseFormat : int { kUndefined = 0, kCoo = 1, kCsrc = 2, kBlockSparse = 4 };

/** `values` [NNZ…] with the indices its format needs: COO one (flat or [NNZ, rank]), CSR inner and outer, block one. */
struct SparseTensor {
  ElementType type = ElementType::kUndefined;
  Shape dense_shape;
  SparseFormat format = SparseFormat::kUndefined;
  Tensor values;
  std::vector<Tensor> indices;
  std::shared_ptr<Allocator> allocator;
};

struct MapRows;

/** Tensors of one type, or maps. */
class Sequence {
 public:
  explicit Sequence(ElementType element = ElementType::kUndefined);
  Sequence(ElementType element, std::vector<Value> items);
  /** Maps that share their keys; each becomes a value of its own when somebody asks for the items. */
  explicit Sequence(MapRows rows);
  ~Sequence();

  size_t size() const;
  /** From any thread. */
  const std::vector<Value>& items() const;
  /** For whoever makes the sequence. */
  std::vector<Value>& items() { return items_; }
  /** The maps at once, where it was made of them; else NULL. */
  const MapRows* rows() const { return rows_.get(); }

  ElementType element_type;  // of its tensors, where known; an empty sequence keeps it

 private:
  mutable std::vector<Value> items_;
  mutable std::once_flag made_;
  std::unique_ptr<const MapRows> rows_;
};

/** Nothing (an empty optional, or a slot not yet filled), or one of the kinds. Copies share; only tensors' elements
    may be written through a copy, containers are immutable once shared. */
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : content_(std::move(tensor)) {}
  Value(std::shared_ptr<Sequence> sequence) : content_(std::move(sequence)) {}
  Value(std::shared_ptr<Map> map) : content_(std::move(map)) {}
  Value(std::shared_ptr<SparseTensor> sparse) : content_(std::move(sparse)) {}

  bool has_value() const { return content_.index() != 0; }
  bool is_tensor() const { return std::holds_alternative<Tensor>(content_); }
  ValueKind kind() const {
    constexpr ValueKind kKinds[] = {ValueKind::kNone, ValueKind::kTensor, ValueKind::kSequence, ValueKind::kMap,
                                    ValueKind::kSparse};
    return kKinds[content_.index()];
  }
  /** The tensor; throws when the value is none. Likewise below. */
  const Tensor& tensor() const { return get<Tensor>("tensor"); }
  Tensor& tensor() { return const_cast<Tensor&>(std::as_const(*this).tensor()); }
  const Sequence& sequence() const { return *get<std::shared_ptr<Sequence>>("sequence"); }
  const Map& map() const { return *get<std::shared_ptr<Map>>("map"); }
  const std::shared_ptr<SparseTensor>& sparse() const { return get<std::shared_ptr<SparseTensor>>("sparse tensor"); }
  /** Without the check, for hot paths that know: NULL unless a tensor. */
  Tensor* tensor_if() { return std::get_if<Tensor>(&content_); }
  const Tensor* tensor_if() const { return std::get_if<Tensor>(&content_); }

 private:
  template <class T>
  const T& get(const char* wanted) const {
    const T* content = std::get_if<T>(&content_);
    require(content != nullptr, ErrorCode::kInvalidArgument, "the value is ", name_of_kind(), ", not a ", wanted);
    return *content;
  }
  std::string_view name_of_kind() const {
    constexpr std::string_view kNames[] = {"empty", "a tensor", "a sequence", "a map", "a sparse tensor"};
    return kNames[content_.index()];
  }

  std::variant<std::monostate, Tensor, std::shared_ptr<Sequence>, std::shared_ptr<Map>, std::shared_ptr<SparseTensor>>
      content_;
};

/** Keys and values are rank-1 tensors of equal length, keys (int64 or string) ascending. */
struct Map {
  Value keys;
  Value values;
};

/** Maps with the same keys: row i of `values` [maps, keys] belongs to map i. */
struct MapRows {
  Value keys;
  Value values;
};

/** A map of copies of the elements, ordered by key. Throws for keys that are neither int64 nor string, a key that
    stands twice, and counts that differ. */
std::shared_ptr<Map> make_map(const Tensor& keys, const Tensor& values);
/** A sequence that shares the items. Throws unless all are tensors of one element type, or all are maps. */
std::shared_ptr<Sequence> make_sequence(std::vector<Value> items);

}  // namespace ortolan::tensor
