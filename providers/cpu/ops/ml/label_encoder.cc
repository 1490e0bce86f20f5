// Kernels of LabelEncoder and CategoryMapper: every element replaced by what a table holds for it.
#include <unordered_map>

#include "base/threads/polled_loop.h"
#include "cpu/elements/number_key.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";
constexpr TypeSet kLabels = ElementType::kFloat | ElementType::kDouble | ElementType::kInt64 | ElementType::kInt32 |
                            ElementType::kInt16 | ElementType::kString;

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

/** Every element replaced by the value at the place of its key, one without a key by the value after all others. */
class Mapping : public OpKernel {
 public:
  Mapping(Tensor keys, const Tensor& values, const Tensor& otherwise)
      : count_(values.element_count()), values_(values.type(), Shape{count_ + 1}) {
    require(keys.element_count() == count_, ErrorCode::kInvalidGraph, "there are ", keys.element_count(), " keys, but ",
            count_, " values; both must have the same length");
    dispatch<kLabels>(values.type(), [&]<class V>(TypeTag<V>) {
      *std::copy_n(values.data<V>(), count_, values_.mutable_data<V>()) = *otherwise.data<V>();
    });
    dispatch<kLabels>(keys.type(), [&]<class K>(TypeTag<K>) {
      for (int64_t i = 0; i < count_; ++i) add(keys.data<K>()[i], i);
    });
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    auto encode = [&](int64_t begin, int64_t end) {
      int64_t places[kTogether];
      for (; begin < end; begin += kTogether) {
        const int64_t count = std::min(kTogether, end - begin);
        find(input, begin, count, places);
        write(output, begin, count, places);
      }
    };
    base::polled_loop(input.element_count(), encode, 8);
  }

 private:
  static constexpr int64_t kTogether = 256;

  void add(const std::string& key, int64_t place) { texts_[key] = place; }
  template <class K>
  void add(K key, int64_t place) {
    numbers_[number_key(key)] = place;
  }

  void find(const Tensor& input, int64_t first, int64_t count, int64_t* places) const {
    dispatch<kLabels>(input.type(), [&]<class K>(TypeTag<K>) {
      const K* keys = input.data<K>() + first;
      if constexpr (std::is_same_v<K, std::string>) {
        std::transform(keys, keys + count, places, [&](const std::string& key) { return place_of(texts_, key); });
      } else {
        std::transform(keys, keys + count, places, [&](K key) { return place_of(numbers_, number_key(key)); });
      }
    });
  }
  template <class Table, class Key>
  [[gnu::noinline]] int64_t place_of(const Table& table, const Key& key) const {
    auto found = table.find(key);
    return found == table.end() ? count_ : found->second;
  }

  void write(Tensor& output, int64_t first, int64_t count, const int64_t* places) const {
    dispatch<kLabels>(values_.type(), [&]<class V>(TypeTag<V>) {
      V* to = output.mutable_data<V>() + first;
      for (int64_t i = 0; i < count; ++i) put(to[i], values_.data<V>()[places[i]]);
    });
  }

  std::unordered_map<uint64_t, int64_t> numbers_;
  std::unordered_map<std::string, int64_t> texts_;
  int64_t count_;
  Tensor values_;
};

std::unique_ptr<OpKernel> make_mapping(const Tensor& keys, const Tensor& values, const Tensor& otherwise) {
  return std::make_unique<Mapping>(keys, values, otherwise);
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
