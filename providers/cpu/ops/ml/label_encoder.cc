// Kernels of LabelEncoder and CategoryMapper: every element replaced by what a table holds for it.
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/polled_loop.h"
#include "cpu/counted_copy.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";
constexpr TypeSet kLabels = ElementType::kFloat | ElementType::kDouble | ElementType::kInt64 | ElementType::kInt32 |
                            ElementType::kInt16 | ElementType::kString;

/** A key whose equality is that of labels: all NaNs are one key, and so are both zeros. */
template <class T>
auto key_of(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    T plain = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value + T{0};
    std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> bits;
    std::memcpy(&bits, &plain, sizeof bits);
    return bits;
  } else {
    return value;
  }
}

/** One element of a list of labels given as an attribute. */
Tensor label_list(const Node& node, const std::string& stem) {
  if (node.has_attribute(stem + "_tensor")) return node.tensor_of(stem + "_tensor");
  if (node.has_attribute(stem + "_strings")) {
    return vector_tensor(std::span<const std::string>(node.strings(stem + "_strings")));
  }
  if (node.has_attribute(stem + "_int64s")) return vector_tensor(std::span<const int64_t>(node.ints(stem + "_int64s")));
  require(node.has_attribute(stem + "_floats"), ErrorCode::kInvalidGraph, "no ", stem, " are given; set one of ", stem,
          "_strings, ", stem, "_int64s, ", stem, "_floats, ", stem, "_tensor");
  return vector_tensor(std::span<const float>(node.floats(stem + "_floats")));
}

/** The value for elements without a key, of type `type`. */
Tensor default_label(const Node& node, ElementType type) {
  if (node.has_attribute("default_tensor")) {
    const Tensor& value = node.tensor_of("default_tensor");
    require(value.type() == type && value.element_count() == 1, ErrorCode::kInvalidGraph,
            "default_tensor must hold one element of type ", name_of(type));
    return value;
  }
  if (type == ElementType::kString) return scalar(std::string(node.string_or("default_string", "_Unused")));
  if (type == ElementType::kFloat) return scalar(node.float_or("default_float", -0.0f));
  if (type == ElementType::kInt64) return scalar(node.int_or("default_int64", -1));
  return dispatch<kLabels>(type, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) return scalar(static_cast<T>(-1));
    if constexpr (!std::is_integral_v<T>) return scalar(T{});
  });
}

template <class K, class V>
class Mapping : public OpKernel {
 public:
  Mapping(const Tensor& keys, const Tensor& values, const Tensor& otherwise) : otherwise_(*otherwise.data<V>()) {
    auto from = keys.span<K>();
    auto to = values.span<V>();
    require(from.size() == to.size(), ErrorCode::kInvalidGraph, "there are ", from.size(), " keys, but ", to.size(),
            " values; both must have the same length");
    for (size_t i = 0; i < from.size(); ++i) table_.insert_or_assign(key_of(from[i]), to[i]);
  }
  void compute(KernelContext& context) const override {
    auto from = context.input(0).span<K>();
    V* to = context.output(0).mutable_data<V>();
    auto encode = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto found = find(from[i]);
        put(to[i], found == table_.end() ? otherwise_ : found->second);
      }
    };
    base::polled_loop(std::ssize(from), encode, 8);
  }

 private:
  auto find(const K& value) const {
    if constexpr (std::is_same_v<K, std::string>) {
      return table_.find(value);
    } else {
      return table_.find(key_of(value));
    }
  }

  std::unordered_map<decltype(key_of(std::declval<K>())), V> table_;
  V otherwise_;
};

std::unique_ptr<OpKernel> make_mapping(const Tensor& keys, const Tensor& values, const Tensor& otherwise) {
  return dispatch<kLabels>(keys.type(), [&]<class K>(TypeTag<K>) {
    return dispatch<kLabels>(values.type(), [&]<class V>(TypeTag<V>) -> std::unique_ptr<OpKernel> {
      return std::make_unique<Mapping<K, V>>(keys, values, otherwise);
    });
  });
}

/** Strings to the integers beside them, or the other way, by the input's type. */
std::unique_ptr<OpKernel> make_both_ways(const KernelInfo& info, const Tensor& strings, const Tensor& ints) {
  Tensor word = scalar(std::string(info.node().string_or("default_string", "_Unused")));
  Tensor number = scalar(info.node().int_or("default_int64", -1));
  bool from_strings = info.input_type(0).element == ElementType::kString;
  return from_strings ? make_mapping(strings, ints, number) : make_mapping(ints, strings, word);
}

std::unique_ptr<OpKernel> make_category_mapper(const KernelInfo& info) {
  const Node& node = info.node();
  return make_both_ways(info, vector_tensor(std::span<const std::string>(node.strings("cats_strings"))),
                        vector_tensor(std::span<const int64_t>(node.ints("cats_int64s"))));
}

/** Opset 1: a string stands for its position in the list. */
std::unique_ptr<OpKernel> make_class_encoder(const KernelInfo& info) {
  const auto& classes = info.node().strings("classes_strings");
  std::vector<int64_t> places;
  for (size_t i = 0; i < classes.size(); ++i) places.push_back(static_cast<int64_t>(i));
  return make_both_ways(info, vector_tensor(std::span<const std::string>(classes)),
                        vector_tensor(std::span<const int64_t>(places)));
}

std::unique_ptr<OpKernel> make_label_encoder(const KernelInfo& info) {
  Tensor keys = label_list(info.node(), "keys"), values = label_list(info.node(), "values");
  require(info.input_type(0).element == keys.type(), ErrorCode::kInvalidGraph, "the input is ",
          name_of(info.input_type(0).element), ", but the keys are ", name_of(keys.type()));
  return make_mapping(keys, values, default_label(info.node(), values.type()));
}

constexpr KernelRow kRows[] = {
    {kDomain, "CategoryMapper", 1, kLatest, make_category_mapper},
    {kDomain, "LabelEncoder", 1, 1, make_class_encoder},
    {kDomain, "LabelEncoder", 2, kLatest, make_label_encoder},
};

}  // namespace

extern const KernelTable label_encoder_rows;
const KernelTable label_encoder_rows(kRows);

}  // namespace ortolan::cpu::ml
