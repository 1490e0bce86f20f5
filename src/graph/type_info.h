// Types of values as far as they are known before a run: element type, and a shape whose dimensions may be symbols.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text_hash.h"
#include "tensor/value.h"

namespace ortolan::graph {
using namespace tensor;

/** A dimension: a number, a symbol of the model's SymbolTable, or unknown. Equal symbols are equal numbers. */
class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(int64_t value) : code_(value < 0 ? -1 : value) {}
  static constexpr Dim symbol(int64_t id) {
    Dim dim;
    dim.code_ = -2 - id;
    return dim;
  }
  constexpr bool known() const { return code_ >= 0; }
  constexpr bool is_symbol() const { return code_ <= -2; }
  /** The number; only when known(). */
  constexpr int64_t value() const { return code_; }
  constexpr int64_t symbol_id() const { return -2 - code_; }
  constexpr bool is(int64_t value) const { return code_ == value; }
  /** True when both are surely the same number: unknown dimensions are never the same. */
  constexpr bool same_as(Dim other) const { return code_ != -1 && code_ == other.code_; }
  constexpr bool operator==(const Dim&) const = default;

 private:
  int64_t code_ = -1;
};

/** Sums, products and quotients that stay known, or become unknown. */
Dim add(Dim a, Dim b);
Dim subtract(Dim a, Dim b);
Dim multiply(Dim a, Dim b);

using DimVector = InlinedVector<Dim, 6>;

/** The names of a model's symbolic dimensions. */
class SymbolTable {
 public:
  /** The dimension called `name`; the same name gives the same dimension. An empty name gives an unknown one. */
  Dim named(const std::string& name);
  /** The name of a symbol; empty for other dimensions. */
  std::string name_of(Dim dim) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t, base::TextHash> ids_;
};

/** A shape of which the rank, or single dimensions, may be unknown. */
class SymbolicShape {
 public:
  /** Of unknown rank. */
  SymbolicShape() = default;
  SymbolicShape(DimVector dims) : has_rank_(true), dims_(std::move(dims)) {}
  SymbolicShape(const Shape& shape) : has_rank_(true) {
    for (int64_t dim : shape) dims_.push_back(dim);
  }
  /** Of that rank, all dimensions unknown. */
  static SymbolicShape of_rank(size_t rank) { return SymbolicShape(DimVector(rank, Dim{})); }

  bool has_rank() const { return has_rank_; }
  size_t rank() const { return dims_.size(); }
  Dim operator[](size_t i) const { return dims_[i]; }
  Dim& operator[](size_t i) { return dims_[i]; }
  const DimVector& dims() const { return dims_; }
  bool fully_known() const;
  /** The concrete shape; only when fully_known(). */
  Shape concrete() const;
  /** The number of elements, where known. */
  Dim element_count() const;
  /** "[N,3,?]" with '?' for what is unknown and d0, d1 for symbols. */
  void append_to(std::string& out) const;
  bool operator==(const SymbolicShape&) const = default;

 private:
  bool has_rank_ = false;
  DimVector dims_;
};

/** The type of a value. Default: nothing is known. */
struct TypeInfo {
  ValueKind kind = ValueKind::kNone;
  ElementType element = ElementType::kUndefined;  // of a tensor or sparse tensor; a map's key
  SymbolicShape shape;                            // of a tensor or sparse tensor
  std::shared_ptr<const TypeInfo> contained;      // a sequence's or optional's element, a map's value
  std::string denotation;

  static TypeInfo of_tensor(ElementType element, SymbolicShape shape = {}) {
    return {ValueKind::kTensor, element, std::move(shape), nullptr, {}};
  }
  static TypeInfo of_sequence(TypeInfo element) {
    return {ValueKind::kSequence, ElementType::kUndefined, {}, std::make_shared<TypeInfo>(std::move(element)), {}};
  }
  static TypeInfo of_optional(TypeInfo element) {
    return {ValueKind::kOptional, ElementType::kUndefined, {}, std::make_shared<TypeInfo>(std::move(element)), {}};
  }
  static TypeInfo of_map(ElementType key, TypeInfo value) {
    return {ValueKind::kMap, key, {}, std::make_shared<TypeInfo>(std::move(value)), {}};
  }
  bool known() const { return kind != ValueKind::kNone; }
  bool is_tensor() const { return kind == ValueKind::kTensor; }
  /** "tensor(float)", "seq(tensor(int64))", "map(string,tensor(float))", "optional(…)": the specification's notation.
   */
  void append_to(std::string& out) const;
};

}  // namespace ortolan::graph
