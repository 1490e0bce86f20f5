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

constexpr size_t kVisitsPerNode = 16;  // a limit for graphs made to be slow

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
      if (&node->graph() != &graph_ || contains(node) || !is_layout_free(*node, order_)) continue;
      members_.insert(node);
      nodes_.push_back(node);
      for (ValueInfo* value : values_of(*node)) {
        if (value->producer && value->graph == &graph_) waiting.push_back(value->producer);
        for (Node* user : value->consumers) {
          if (takes(*user, *value)) waiting.push_back(user);
        }
      }
    }
  }

  const std::vector<Node*>& nodes() const { return nodes_; }

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
  /** Whether a node's use of a value is one whose layout matters. */
  static bool takes(const Node& user, const ValueInfo& value) {
    for (size_t i = 0; i < user.inputs().size(); ++i) {
      if (user.input(i) == &value && is_laid_out(user, i)) return true;
    }
    return false;
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
      const bool only_here = !value.is_output && std::ranges::all_of(value.consumers, [&](const Node* user) {
        return contains(user) && takes(*user, value);
      });
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
    const auto at = std::ranges::find(maker->outputs(), &value) - maker->outputs().begin();
    maker->set_output(static_cast<size_t>(at), made);
    const std::vector<Node*> users = value.consumers;
    for (Node* user : users) {
      if (contains(user)) {
        hand_over(*user, value, made);
      } else if (const Order after = order_after(*user, value); !after.empty() && user->input(0) == &value) {
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

  static void hand_over(Node& user, const ValueInfo& from, ValueInfo* to) {
    for (size_t i = 0; i < user.inputs().size(); ++i) {
      if (user.input(i) == &from) user.set_input(i, to);
    }
  }

  Graph& graph_;
  Order order_, back_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> members_;
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
    }
    visits_left_ = kVisitsPerNode * graph_.nodes().size();
    for (const Node* node : transposes) look_after(*node);
    return changed_;
  }

 private:
  void look_after(const Node& transpose) {
    if (!is_used(transpose) || !transpose_before(*transpose.output(0), graph_)) return;
    const Order order = order_of(transpose);
    if (changes_nothing(order)) return;
    const std::vector<Node*> users = transpose.output(0)->consumers;
    for (Node* user : users) {
      if (visits_left_ > 0 && !seen_.contains({user, order})) look_at_region(*user, order);
    }
  }

  void look_at_region(Node& seed, const Order& order) {
    Region region(graph_, order);
    region.grow(seed);
    if (region.nodes().empty()) return;
    for (const Node* node : region.nodes()) seen_.insert({node, order});
    visits_left_ -= std::min(visits_left_, region.nodes().size());
    if (!region.pays()) return;
    region.reorder(context_);
    changed_ = true;
  }

  Graph& graph_;
  const PassContext& context_;
  std::set<std::pair<const Node*, Order>> seen_;
  size_t visits_left_ = 0;
  bool changed_ = false;
};

}  // namespace

bool move_transposes(Graph& graph, const PassContext& context) { return Mover(graph, context).run(); }

}  // namespace ortolan::passes
