// From the last product to the first.
#include "gpu/core/attention/attention_pattern.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

struct Found {
  std::vector<const Node*> nodes;  // but the last; the first is the Softmax
  std::vector<int> factors;
  std::vector<int64_t> divides;
  int query = kMissing, keys = kMissing, bias = kMissing, condition = kMissing, other = kMissing;
  bool stands = true, bias_first = false;
};

class Pattern {
 public:
  Pattern(const Makers& makers, const Node& last) : makers_(makers), last_(last) {}

  bool matches() {
    const Node* softmax = makers_.maker(last_.inputs[0], "Softmax");
    if (softmax == nullptr || last_.inputs.size() != 2) return false;
    take(softmax);
    return takes_scores(softmax->inputs[0]);
  }

  Node joined() {
    const Node& softmax = *found_.nodes.front();
    Node node = last_;
    node.parts = parts();
    node.domain = kOwnDomain;
    node.op = kSpelledAttention;
    node.since_version = 1;
    node.inputs = {found_.query, found_.keys, last_.inputs[1], found_.bias, found_.condition, found_.other};
    node.inputs.insert(node.inputs.end(), found_.factors.begin(), found_.factors.end());
    node.attributes = {{"divides", found_.divides},
                       {"stands", int64_t{found_.stands}},
                       {"bias_first", int64_t{found_.bias_first}},
                       {"axis", softmax.integer("axis", softmax.since_version >= 13 ? -1 : 1)}};
    return node;
  }

 private:
  void take(const Node* node) { found_.nodes.push_back(node); }

  /** In the order of the graph. */
  std::vector<Node> parts() const {
    std::vector<const Node*> sorted = found_.nodes;
    std::sort(sorted.begin(), sorted.end());
    std::vector<Node> parts;
    for (const Node* node : sorted) parts.push_back(*node);
    parts.push_back(last_);
    return parts;
  }

  bool is_scalar(int value) const {
    if (value == kMissing) return false;
    const std::optional<Shape>& shape = makers_.value(value).shape;
    return shape && shape->size() <= 1 && element_count(*shape) == 1;
  }

  /** The value that a product with a number, or a quotient by one, has been made of; the value itself where it is none.
   */
  int without_factor(int value) {
    for (const char* op : {"Mul", "Div"}) {
      const Node* node = makers_.maker(value, op);
      for (size_t i : {1, 0}) {
        if (node == nullptr || !is_scalar(node->inputs[i]) || (i == 0 && node->op == "Div")) continue;
        take(node);
        found_.factors.push_back(node->inputs[i]);
        found_.divides.push_back(node->op == "Div");
        return node->inputs[1 - i];
      }
    }
    return value;
  }

  bool takes_scores(int value) {
    if (takes_product(value)) return true;
    if (int inner = without_factor(value); inner != value) return takes_factors(inner);
    return takes_sum(value) || takes_choice(value);
  }

  bool takes_factors(int value) {
    for (int inner = without_factor(value); inner != value; inner = without_factor(value)) value = inner;
    return takes_product(value);
  }

  bool takes_product(int value) {
    const Node* product = makers_.maker(value, "MatMul");
    if (product == nullptr || product->inputs.size() != 2) return false;
    take(product);
    found_.query = without_factor(product->inputs[0]);
    found_.keys = without_factor(product->inputs[1]);
    return true;
  }

  /** Of scores and a bias: what leads to a product are the scores. */
  bool takes_sum(int value) {
    const Node* sum = found_.bias == kMissing ? makers_.maker(value, "Add") : nullptr;
    for (size_t i : {0, 1}) {
      if (sum == nullptr) return false;
      const Found before = found_;
      take(sum);
      found_.bias = sum->inputs[1 - i];
      found_.bias_first = found_.condition != kMissing;
      if (takes_scores(sum->inputs[i])) return true;
      found_ = before;
    }
    return false;
  }

  bool takes_choice(int value) {
    const Node* choice = found_.condition == kMissing ? makers_.maker(value, "Where") : nullptr;
    for (size_t i : {1, 2}) {
      if (choice == nullptr || choice->inputs.size() != 3 || !is_scalar(choice->inputs[3 - i])) continue;
      take(choice);
      found_.condition = choice->inputs[0];
      found_.other = choice->inputs[3 - i];
      found_.stands = i == 1;
      return takes_scores(choice->inputs[i]);
    }
    return false;
  }

  const Makers& makers_;
  const Node& last_;
  Found found_;
};

}  // namespace

void join_attention(const Makers& makers, Node& last) {
  Pattern pattern(makers, last);
  if (pattern.matches()) last = pattern.joined();
}

}  // namespace ortolan::gpu
