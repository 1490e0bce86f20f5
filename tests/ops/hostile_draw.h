// Draws values and nodes that are likely wrong, from the schema rows of all operators.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hostile_run.h"
#include "ops/schema.h"

namespace ortolan::test {

/** Numbers that choose: random ones from a seed, or bytes and then random ones. */
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : generator_(seed) {}
  explicit Numbers(std::span<const uint8_t> bytes) : rest_(bytes) {}
  uint64_t operator()() {
    if (rest_.empty()) return generator_();
    uint64_t number = rest_.front() | (rest_.size() > 1 ? uint64_t{rest_[1]} << 8 : 0);
    rest_ = rest_.subspan(std::min<size_t>(rest_.size(), 2));
    return number;
  }

 private:
  std::span<const uint8_t> rest_;
  std::mt19937_64 generator_;
};

/** Values, many of them hostile; one for each node, so that its seed tells the node. */
class Draw {
 public:
  explicit Draw(uint32_t seed) : Draw(Numbers(seed)) {}
  explicit Draw(Numbers numbers) : numbers_(numbers), mild_(numbers_() % 4 != 0) {}

  int64_t below(int64_t n) { return n < 2 ? 0 : static_cast<int64_t>(numbers_() % static_cast<uint64_t>(n)); }
  bool once_in(int64_t n) { return below(n) == 0; }
  template <class List>
  const auto& one_of(const List& items) {
    return items[static_cast<size_t>(below(static_cast<int64_t>(std::size(items))))];
  }

  int64_t integer();
  double real();
  std::string text();
  Shape shape();
  ElementType type_of(TypeSet types);
  Tensor tensor(ElementType type, const Shape& shape);
  std::vector<int64_t> integers();
  /** A value of an attribute of that kind; `words` are likely strings. */
  AttributeValue attribute(graph::AttributeKind kind, const std::vector<std::string>& words);
  /** Fills a subgraph whose inputs and outputs suit no operator in particular. */
  std::function<void(Graph&)> subgraph(int opset);

  /** A node of one operator at a random version. */
  HostileNode node(std::span<const ops::SchemaRow* const> rows);

 private:
  Value value_of_type(std::string_view type);
  std::optional<Value> input(const ops::SchemaRow& row, const NodeCase& node, size_t i,
                             std::vector<std::pair<std::string, std::string>>& bound);
  Shape input_shape(const NodeCase& node);
  void draw_inputs(const ops::SchemaRow& row, NodeCase& node);
  void draw_attributes(NodeCase& node);
  int version(const ops::SchemaRow& row);

  Numbers numbers_;
  bool mild_;  // most values are small, so that the node has a chance to run
};

/** The rows of all operators of all domains, an operator an entry, ordered by name. */
const std::vector<std::vector<const ops::SchemaRow*>>& all_operators();

}  // namespace ortolan::test
