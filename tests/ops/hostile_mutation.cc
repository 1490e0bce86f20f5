// Changes inputs and attributes of nodes.
#include "hostile_mutation.h"

#include <algorithm>

#include "hostile_draw.h"
#include "operator_words.h"

namespace ortolan::test {
namespace {

void change_value(Draw& draw, std::optional<Value>& input) {
  if (!input || !input->is_tensor() || is_packed(input->tensor().type())) return;
  const Tensor& old = input->tensor();
  Tensor fresh = draw.tensor(old.type(), old.shape());
  Tensor changed = clone(old);
  int64_t count = old.element_count();
  if (count == 0) return;
  bool all = draw.once_in(3);
  int64_t chosen = draw.below(count);
  dispatch<kPlainTypes | ElementType::kString>(old.type(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; ++i) {
      if (all || i == chosen) changed.mutable_data<T>()[i] = fresh.data<T>()[i];
    }
  });
  input = Value(changed);
}

void change_shape(Draw& draw, std::optional<Value>& input) {
  if (!input || !input->is_tensor()) return;
  Shape shape = input->tensor().shape();
  int64_t rank = static_cast<int64_t>(shape.rank());
  int64_t kind = draw.below(4);
  if (kind == 0) shape.push_back(1);
  if (kind == 1 && rank > 0) shape = Shape(shape.begin(), shape.end() - 1);
  if (kind >= 2 && rank > 0) {
    int64_t& dim = shape[static_cast<size_t>(draw.below(rank))];
    dim = draw.once_in(3) ? 0 : std::max<int64_t>(0, dim + draw.below(3) - 1);
  }
  input = Value(draw.tensor(input->tensor().type(), shape));
}

void change_input(Draw& draw, NodeCase& node) {
  if (node.inputs.empty()) return;
  size_t i = static_cast<size_t>(draw.below(static_cast<int64_t>(node.inputs.size())));
  auto& input = node.inputs[i];
  switch (draw.below(10)) {
    case 0:
      input = std::nullopt;
      break;
    case 1:
      input =
          Value(draw.tensor(draw.type_of(kAllTypes), input && input->is_tensor() ? input->tensor().shape() : Shape{}));
      break;
    case 2:
      node.inputs.pop_back();
      break;
    case 3:
    case 4:
    case 5:
      change_shape(draw, input);
      break;
    default:
      change_value(draw, input);
  }
}

/** Another value of the same kind, most often close to the old one. */
void change_attribute(Draw& draw, NodeCase& node) {
  const OperatorWords& words = words_of(node.op);
  if (node.attributes.empty() || draw.once_in(4)) {
    if (words.attributes.empty()) return;
    const AttributeWord& word = draw.one_of(words.attributes);
    if (word.kind == graph::AttributeKind::kGraph) return;
    node.attributes.push_back({word.name, draw.attribute(word.kind, words.strings)});
    return;
  }
  size_t i = static_cast<size_t>(draw.below(static_cast<int64_t>(node.attributes.size())));
  Attribute& attribute = node.attributes[i];
  if (auto* list = std::get_if<std::vector<int64_t>>(&attribute.value); list && !list->empty() && !draw.once_in(5)) {
    if (draw.once_in(5)) return list->pop_back();
    (*list)[static_cast<size_t>(draw.below(static_cast<int64_t>(list->size())))] = draw.integer();
  } else if (draw.once_in(6)) {
    node.attributes.erase(node.attributes.begin() + static_cast<ptrdiff_t>(i));
  } else {
    attribute.value = draw.attribute(attribute.kind(), words.strings);
  }
}

}  // namespace

HostileNode mutated(const HostileNode& from, uint32_t seed) {
  Draw draw(seed);
  HostileNode hostile = from;
  hostile.seed = seed;
  for (int64_t n = 1 + draw.below(3); n > 0; --n) {
    int64_t kind = draw.below(12);
    if (kind == 0) {
      hostile.node.opset = static_cast<int>(1 + draw.below(28));
    } else if (kind < 8) {
      change_input(draw, hostile.node);
    } else {
      change_attribute(draw, hostile.node);
    }
  }
  return hostile;
}

}  // namespace ortolan::test
