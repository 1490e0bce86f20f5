// Dimensions, symbolic shapes and type names.
#include "graph/type_info.h"

namespace ortolan::graph {

Dim add(Dim a, Dim b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  int64_t sum;
  if (!a.known() || !b.known() || __builtin_add_overflow(a.value(), b.value(), &sum)) return {};
  return sum;
}

Dim subtract(Dim a, Dim b) {
  if (b.is(0)) return a;
  if (a.same_as(b)) return 0;
  return a.known() && b.known() ? Dim(a.value() - b.value()) : Dim{};
}

Dim multiply(Dim a, Dim b) {
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  int64_t product;
  if (!a.known() || !b.known() || __builtin_mul_overflow(a.value(), b.value(), &product)) return {};
  return product;
}

Dim SymbolTable::named(const std::string& name) {
  if (name.empty()) return {};
  auto [at, is_new] = ids_.try_emplace(name, static_cast<int64_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return Dim::symbol(at->second);
}

std::string SymbolTable::name_of(Dim dim) const {
  if (!dim.is_symbol() || static_cast<size_t>(dim.symbol_id()) >= names_.size()) return {};
  return names_[static_cast<size_t>(dim.symbol_id())];
}

bool SymbolicShape::fully_known() const {
  return has_rank_ && std::all_of(dims_.begin(), dims_.end(), [](Dim dim) { return dim.known(); });
}

Shape SymbolicShape::concrete() const {
  Shape shape;
  for (Dim dim : dims_) shape.push_back(dim.value());
  return shape;
}

Dim SymbolicShape::element_count() const {
  if (!has_rank_) return {};
  for (Dim dim : dims_) {
    if (dim.is(0)) return 0;
  }
  Dim count = 1;
  for (Dim dim : dims_) count = multiply(count, dim);
  return count;
}

void SymbolicShape::append_to(std::string& out) const {
  if (!has_rank_) {
    out += "[unknown rank]";
    return;
  }
  out += '[';
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) out += ',';
    if (dims_[i].known()) {
      base::append(out, dims_[i].value());
    } else if (dims_[i].is_symbol()) {
      out += 'd';
      base::append(out, dims_[i].symbol_id());
    } else {
      out += '?';
    }
  }
  out += ']';
}

namespace {

void append_contained(std::string& out, const std::shared_ptr<const TypeInfo>& type) {
  if (type) {
    type->append_to(out);
  } else {
    out += '?';
  }
}

}  // namespace

void TypeInfo::append_to(std::string& out) const {
  switch (kind) {
    case ValueKind::kTensor:
    case ValueKind::kSparse:
      out += kind == ValueKind::kTensor ? "tensor(" : "sparse_tensor(";
      out += name_of(element);
      break;
    case ValueKind::kSequence:
    case ValueKind::kOptional:
      out += kind == ValueKind::kSequence ? "seq(" : "optional(";
      append_contained(out, contained);
      break;
    case ValueKind::kMap:
      out += "map(";
      out += name_of(element);
      out += ',';
      append_contained(out, contained);
      break;
    case ValueKind::kOpaque:
      out += "opaque(";
      break;
    case ValueKind::kNone:
      out += "unknown";
      return;
  }
  out += ')';
}

}  // namespace ortolan::graph
