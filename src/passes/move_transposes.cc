// Computes connected layout-free nodes in the order of dimensions that a Transpose before them undoes, where that
// leaves less to transpose: models of frameworks that keep channels last have a pair of them around each convolution.
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "passes/basic.h"
#include "passes/layout_free.h"
#include "passes/transpose_order.h"

namespace ortolan::passes {
namespace {

constexpr size_t kWorkPerEdge = 32;  // a limit for graphs made to be slow

/** The Transpose that makes a value in this graph, if its order is known. */
Node* transpose_before(const ValueInfo& value, const Graph& graph) {
  Node* node = producer_of(&value, "Transpose", graph);
  return node && node->input(0) && is_permutation(order_of(*node)) ? node : nullptr;
}

/** Exchanges the last two dimensions for a product, perhaps with a factor between: products read such operands as they
    are. */
bool is_part_of_product(const Node& transpose) {
  const Order order = order_of(transpose);
  for (size_t i = 0; i + 2 < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  const ValueInfo* operand = transpose.output(0);
  for (std::string_view scale : {"Mul", "Div"}) {
    if (const Node* node = only_user(operand, scale)) operand = node->output(0);
  }
  return order.size() >= 2 && only_user(operand, "MatMul") != nullptr;
}

/** What computing a region in another order does to its borders: elements transposed before and after. */
struct Cost {
  double before = 0, after = 0;
};

/** A node with its inputs and outputs. */
size_t edges_of(const Node& node) { return 1 + node.inputs().size() + node.outputs().size(); }

/** Layout-free nodes connected by values that have the order's dimensions. */
class Region {
 public:
  Region(Graph& graph, Order order) : graph_(graph), order_(std::move(order)), back_(inverse(order_)) {}

  /** Takes `seed` and what is connected with it. */
  void grow(Node& seed) {
    std::vector<Node*> waiting{&seed};
    while (!waiting.empty()) {
      Node* node = waiting.back();
      waiting.pop_back();
      if (&node->graph() != &graph_ || !met_.insert(node).second) continue;
      work_ += edges_of(*node);
      if (!is_layout_free(*node, order_)) continue;
      members_.insert(node);
      nodes_.push_back(node);
      for (ValueInfo* value : values_of(*node)) add_neighbours(*value, waiting);
    }
  }

  const std::vector<Node*>& nodes() const { return nodes_; }
  /** How many nodes and uses of values were looked at. */
  size_t work() const { return work_; }

  bool pays() const {
    Cost cost;
    for (const ValueInfo* value : entering()) add_entry(*value, cost);
    for (const ValueInfo* value : results()) add_exit(*value, cost);
    return cost.after < cost.before;
  }

  void reorder(const PassContext& context) {
    for (ValueInfo* value : results()) reorder_result(*value, context);
    for (Node* node : nodes_) {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        if (is_laid_out(*node, i) && !is_made_here(*node->input(i)))
          node->set_input(i, entry(*node->input(i), context));
      }
      take_order(*node, order_);
    }
  }

 private:
  bool contains(const Node* node) const { return members_.contains(node); }
  bool is_made_here(const ValueInfo& value) const { return value.producer && contains(value.producer); }
  /** The other nodes that a value with the order's dimensions connects, each value looked at once. */
  void add_neighbours(const ValueInfo& value, std::vector<Node*>& to) {
    if (!reached_.insert(&value).second) return;
    work_ += value.consumers.size();
    if (value.producer && value.graph == &graph_) to.push_back(value.producer);
    for (auto use = value.consumers.begin(); use != value.consumers.end(); ++use) {
      if (is_laid_out(**use, use.input())) to.push_back(*use);
    }
  }
  /** Whether nodes of the region alone use a value, and as one whose layout matters. */
  bool is_taken_here(const ValueInfo& value) const {
    for (auto use = value.consumers.begin(); use != value.consumers.end(); ++use) {
      if (!contains(*use) || !is_laid_out(**use, use.input())) return false;
    }
    return true;
  }

  /** The values that connect a node with others. */
  std::vector<ValueInfo*> values_of(const Node& node) const {
    std::vector<ValueInfo*> values;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (is_laid_out(node, i) && !node.input(i)->is_fixed()) values.push_back(node.input(i));
    }
    if (!has_laid_out_results(node)) return values;
    for (ValueInfo* y : node.outputs()) {
      if (y) values.push_back(y);
    }
    return values;
  }

  /** What comes from outside, each once. */
  std::vector<ValueInfo*> entering() const {
    std::vector<ValueInfo*> values;
    std::unordered_set<const ValueInfo*> seen;
    for (const Node* node : nodes_) {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        ValueInfo* value = node->input(i);
        if (is_laid_out(*node, i) && !is_made_here(*value) && seen.insert(value).second) values.push_back(value);
      }
    }
    return values;
  }

  std::vector<ValueInfo*> results() const {
    std::vector<ValueInfo*> values;
    for (const Node* node : nodes_) {
      if (!has_laid_out_results(*node)) continue;
      for (ValueInfo* value : node->outputs()) {
        if (value) values.push_back(value);
      }
    }
    return values;
  }

  void add_entry(const ValueInfo& value, Cost& cost) const {
    if (value.is_fixed()) return;
    const Node* before = transpose_before(value, graph_);
    if (!before) {
      cost.after += likely_size(value);
    } else if (!before->input(0)->is_fixed()) {
      const bool only_here = !value.is_output && is_taken_here(value);
      cost.before += likely_size(value);
      if (!only_here) cost.after += likely_size(value);
      if (!changes_nothing(composed(order_of(*before), back_))) cost.after += likely_size(value);
    }
  }

  void add_exit(const ValueInfo& value, Cost& cost) const {
    bool as_it_was = value.is_output;
    std::unordered_set<const Node*> seen;
    for (const Node* user : value.consumers) {
      if (contains(user) || !seen.insert(user).second) continue;
      if (const Order after = order_after(*user, value); !after.empty()) {
        if (!is_part_of_product(*user)) cost.before += likely_size(value);
        if (!changes_nothing(after)) cost.after += likely_size(value);
      } else if (!asks_for_shape(*user)) {
        as_it_was = true;
      }
    }
    if (as_it_was) cost.after += likely_size(value);
  }

  /** A Shape, whose result is easily put into another order. */
  bool asks_for_shape(const Node& user) const {
    return is_op(user, "Shape") && &user.graph() == &graph_ && user.attributes().empty() && user.output(0);
  }

  /** The order from a reordered result to what a Transpose of this graph makes of it; empty for other users. */
  Order order_after(const Node& user, const ValueInfo& value) const {
    const bool transposes = is_op(user, "Transpose") && &user.graph() == &graph_ && value.graph == &graph_;
    return transposes ? composed(order_, order_of(user)) : Order{};
  }

  /** What enters, in the new order. */
  ValueInfo* entry(ValueInfo& value, const PassContext& context) {
    ValueInfo*& known = entries_[&value];
    if (known) return known;
    ValueInfo* from = &value;
    Order order = back_;
    if (const Node* before = transpose_before(value, graph_)) {
      from = before->input(0);
      order = composed(order_of(*before), back_);
    } else if (value.type.shape.rank() < order_.size()) {
      from = with_all_dimensions(value);
    }
    return known = changes_nothing(order) ? from : transposed(*from, order, context);
  }

  /** A constant with ones for the dimensions that broadcasting would add. */
  ValueInfo* with_all_dimensions(const ValueInfo& value) const {
    const Tensor& tensor = *value.fixed_constant();
    Shape shape(order_.size() - tensor.rank(), 1);
    for (int64_t dim : tensor.shape()) shape.push_back(dim);
    return graph_.add_initializer(graph_.unique_name(value.name), tensor.reshaped(std::move(shape)));
  }

  ValueInfo* transposed(ValueInfo& from, const Order& order, const PassContext& context) const {
    ValueInfo* to = graph_.add_value(graph_.unique_name(from.name), reordered(from.type, order));
    add_transpose(from, *to, order, context);
    return to;
  }

  void add_transpose(ValueInfo& from, ValueInfo& to, const Order& order, const PassContext& context) const {
    add_node("Transpose", {&from}, to, context)->set_attribute("perm", order);
  }

  Node* add_node(const char* op, std::vector<ValueInfo*> inputs, ValueInfo& output, const PassContext& context) const {
    Node* node = graph_.add_node(output.name, op, "", std::move(inputs), {&output});
    node->opset = nodes_.front()->opset;
    context.resolve(*node);
    return node;
  }

  static TypeInfo reordered(TypeInfo type, const Order& order) {
    const DimVector before = type.shape.dims();
    for (size_t i = 0; i < order.size(); ++i) type.shape[i] = before[static_cast<size_t>(order[i])];
    return type;
  }

  /** Lets a node of the region make a result in the new order, and users outside have it as they need it. */
  void reorder_result(ValueInfo& value, const PassContext& context) {
    ValueInfo* made = graph_.add_value(graph_.unique_name(value.name), reordered(value.type, back_));
    Node* maker = value.producer;
    maker->set_output(value.producer_output, made);
    for (auto use = value.consumers.begin(); use != value.consumers.end();) {
      const auto at = use++;
      Node* user = *at;
      if (contains(user)) {
        user->set_input(at.input(), made);
      } else if (const Order after = order_after(*user, value); !after.empty()) {
        user->set_input(0, made);
        user->set_attribute("perm", after);
      } else if (asks_for_shape(*user)) {
        reorder_shape(*user, made, context);
      }
    }
    if (value.is_output || !value.consumers.empty()) add_transpose(*made, value, order_, context);
  }

  void reorder_shape(Node& shape, ValueInfo* of, const PassContext& context) const {
    ValueInfo* sizes = shape.output(0);
    ValueInfo* made = graph_.add_value(graph_.unique_name(sizes->name), sizes->type);
    shape.set_input(0, of);
    shape.set_output(0, made);
    Tensor order(ElementType::kInt64, {static_cast<int64_t>(order_.size())});
    std::ranges::copy(order_, order.mutable_data<int64_t>());
    ValueInfo* indices = graph_.add_initializer(graph_.unique_name("order"), std::move(order));
    add_node("Gather", {made, indices}, *sizes, context);
  }

  Graph& graph_;
  Order order_, back_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> members_;
  std::unordered_set<const Node*> met_;
  std::unordered_set<const ValueInfo*> reached_;
  size_t work_ = 0;
  std::unordered_map<const ValueInfo*, ValueInfo*> entries_;
};

/** Looks at the regions after each Transpose, each once for an order. */
class Mover {
 public:
  Mover(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  bool run() {
    std::vector<Node*> transposes;
    for (const auto& node : graph_.nodes()) {
      if (is_op(*node, "Transpose")) transposes.push_back(node.get());
      work_left_ += kWorkPerEdge * edges_of(*node);
    }
    for (const Node* node : transposes) look_after(*node);
    return changed_;
  }

 private:
  void look_after(const Node& transpose) {
    if (!is_used(transpose) || !transpose_before(*transpose.output(0), graph_)) return;
    const Order order = order_of(transpose);
    if (changes_nothing(order)) return;
    for (Node* user : transpose.output(0)->consumers.nodes()) {
      if (work_left_ > 0 && !seen_.contains({user, order})) look_at_region(*user, order);
    }
  }

  void look_at_region(Node& seed, const Order& order) {
    Region region(graph_, order);
    region.grow(seed);
    seen_.insert({&seed, order});
    for (const Node* node : region.nodes()) seen_.insert({node, order});
    work_left_ -= std::min(work_left_, region.work());
    if (region.nodes().empty() || !region.pays()) return;
    region.reorder(context_);
    changed_ = true;
  }

  Graph& graph_;
  const PassContext& context_;
  std::set<std::pair<const Node*, Order>> seen_;
  size_t work_left_ = 0;
  bool changed_ = false;
};

}  // namespace

bool move_transposes(Graph& graph, const PassContext& context) { return Mover(graph, context).run(); }

}  // namespace ortolan::passes
