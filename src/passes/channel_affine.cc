// Arithmetic of one factor and one addend a channel.
#include "passes/channel_affine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/memory/lasting_memory.h"

namespace ortolan::passes {
namespace {

constexpr size_t kSmallWeights = 4096;  // bytes
constexpr size_t kFewUses = 8;
constexpr size_t kLongestChain = 16;         // taken at once: each step costs a number a channel
constexpr int64_t kScaledAtOnce = 64 << 10;  // elements

/** Before training_mode, it was the further outputs that asked for training. */
bool has_one_output(const Node& node) {
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.output(i)) return false;
  }
  return true;
}

std::optional<Affine> of_batch_normalization(const Node& node, int64_t channels) {
  if (!has_one_output(node) || node.opset < 7 || node.int_or("training_mode", 0) != 0) return std::nullopt;
  if (node.opset < 9 && node.int_or("spatial", 1) != 1) return std::nullopt;
  auto gamma = numbers(constant_input(node, 1), channels), beta = numbers(constant_input(node, 2), channels);
  auto mean = numbers(constant_input(node, 3), channels), variance = numbers(constant_input(node, 4), channels);
  if (!gamma || !beta || !mean || !variance) return std::nullopt;
  double epsilon = node.float_or("epsilon", 1e-5f);
  Affine affine;
  for (size_t i = 0; i < gamma->size(); ++i) {
    double scale = (*gamma)[i] / std::sqrt((*variance)[i] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back((*beta)[i] - (*mean)[i] * scale);
  }
  return affine;
}

/** True when a constant of this shape gives each channel (axis 1 of `rank`) one value and nothing else. */
bool is_per_channel(const Shape& shape, int64_t channels, size_t rank) {
  if (shape.rank() > rank || shape.rank() + 1 < rank) return false;
  size_t offset = rank - shape.rank();
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != (i + offset == 1 ? channels : 1)) return false;
  }
  return true;
}

/** A constant's value for each channel. */
std::optional<std::vector<double>> channel_values(const Node& node, size_t i, int64_t channels, size_t rank) {
  const Tensor* tensor = stored_input(node, i);
  if (!tensor) return std::nullopt;
  if (is_per_channel(tensor->shape(), channels, rank)) return numbers(constant_input(node, i), channels);
  if (tensor->element_count() != 1 || tensor->rank() > rank) return std::nullopt;
  auto one = numbers(tensor, 1);
  return one ? std::optional(std::vector<double>(static_cast<size_t>(channels), one->front())) : std::nullopt;
}

std::optional<Affine> of_arithmetic(const Node& node, const ValueInfo& x, int64_t channels, size_t rank) {
  if (node.opset < 7 || node.inputs().size() != 2) return std::nullopt;
  bool commutes = node.op_type == "Mul" || node.op_type == "Add";
  size_t other = node.input(0) == &x ? 1 : 0;
  if (other == 0 && !commutes) return std::nullopt;
  auto values = channel_values(node, other, channels, rank);
  if (!values) return std::nullopt;
  std::vector<double> zeros(values->size(), 0.0), ones(values->size(), 1.0);
  if (node.op_type == "Div") {
    for (double& value : *values) value = 1 / value;
  } else if (node.op_type == "Sub") {
    for (double& value : *values) value = -value;
  }
  if (node.op_type == "Mul" || node.op_type == "Div") return Affine{std::move(*values), std::move(zeros)};
  return Affine{std::move(ones), std::move(*values)};
}

bool is_finite(const Affine& affine) {
  auto finite = [](double number) { return std::isfinite(number); };
  return std::ranges::all_of(affine.scale, finite) && std::ranges::all_of(affine.shift, finite);
}

/** to[i] = from[i] * factor, rounded once; false where a result is not finite. `from` may be unaligned. */
template <class T>
bool scale_row(const std::byte* from, T* to, int64_t count, double factor) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  Bits wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    T weight;
    std::memcpy(&weight, from + i * static_cast<int64_t>(sizeof(T)), sizeof weight);
    to[i] = static_cast<T>(static_cast<double>(weight) * factor);
    wrong |= (std::bit_cast<Bits>(to[i]) & kExponent) == kExponent ? Bits{1} : Bits{0};
  }
  return wrong == 0;
}

}  // namespace

bool Affine::only_shifts() const {
  return std::ranges::all_of(scale, [](double factor) { return factor == 1.0; });
}

std::optional<Affine> affine_of(const Node& node, const ValueInfo& x, int64_t channels, size_t rank) {
  std::optional<Affine> affine;
  if (is_op(node, "BatchNormalization") && node.input(0) == &x) {
    affine = of_batch_normalization(node, channels);
  } else if (is_op(node, "Mul") || is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Div")) {
    affine = of_arithmetic(node, x, channels, rank);
  }
  return affine && is_finite(*affine) ? std::move(affine) : std::nullopt;
}

AffineChain affine_after(const ValueInfo& value, int64_t channels, size_t rank) {
  AffineChain chain;
  auto size = static_cast<size_t>(channels);
  chain.affine = {std::vector<double>(size, 1.0), std::vector<double>(size, 0.0)};
  const ValueInfo* at = &value;
  while (at && used_once(*at) && chain.nodes.size() < kLongestChain) {
    Node& next = *at->consumers.front();
    auto affine = is_used(next) ? affine_of(next, *at, channels, rank) : std::nullopt;
    if (!affine) break;
    Affine total = chain.affine;
    for (size_t i = 0; i < size; ++i) {
      total.scale[i] *= affine->scale[i];
      total.shift[i] = total.shift[i] * affine->scale[i] + affine->shift[i];
    }
    if (!is_finite(total)) break;
    chain.affine = std::move(total);
    chain.nodes.push_back(&next);
    at = next.output(0);
  }
  return chain;
}

std::optional<std::vector<double>> numbers(const Tensor* tensor, int64_t count) {
  if (!tensor || !kFloat32And64.contains(tensor->type()) || tensor->element_count() != count) return std::nullopt;
  return dispatch<kFloat32And64>(tensor->type(), [&]<class T>(TypeTag<T>) {
    auto values = tensor->span<T>();
    return std::vector<double>(values.begin(), values.end());
  });
}

std::optional<Tensor> rounded(const std::vector<double>& numbers, ElementType type, Shape shape) {
  Tensor result(type, std::move(shape));
  bool finite = dispatch<kFloat32And64>(type, [&]<class T>(TypeTag<T>) {
    T* to = result.mutable_data<T>();
    bool good = true;
    for (size_t i = 0; i < numbers.size(); ++i) {
      to[i] = static_cast<T>(numbers[i]);
      good &= std::isfinite(to[i]);
    }
    return good;
  });
  return finite ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Tensor> scaled(base::ThreadPool* pool, const Tensor& weights, int64_t outer, int64_t inner,
                             const std::vector<double>& scale) {
  std::shared_ptr<void> memory = base::allocate_lasting(weights.byte_count());
  Tensor result(weights.type(), weights.shape(), memory.get(), memory);
  const auto channels = static_cast<int64_t>(scale.size());
  std::atomic<bool> finite = true;
  dispatch<kFloat32And64>(weights.type(), [&]<class T>(TypeTag<T>) {
    auto* from = static_cast<const std::byte*>(weights.raw());  // perhaps unaligned
    T* to = result.mutable_data<T>();
    base::parallel_for(pool, outer * channels, kScaledAtOnce / inner + 1, [&](int64_t begin, int64_t end) {
      bool good = true;
      for (int64_t row = begin; row < end; ++row) {
        double factor = scale[static_cast<size_t>(row % channels)];
        good &= scale_row(from + row * inner * static_cast<int64_t>(sizeof(T)), to + row * inner, inner, factor);
      }
      if (!good) finite = false;
    });
  });
  return finite ? std::optional(std::move(result)) : std::nullopt;
}

bool may_copy(const ValueInfo& weights) {
  return weights.constant->byte_count() <= kSmallWeights || weights.consumers.size() <= kFewUses;
}

}  // namespace ortolan::passes
