// Kernels of the ai.onnx.ml operators between maps and tensors: CastMap, DictVectorizer, ZipMap.
#include <charconv>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/threads/polled_loop.h"
#include "cpu/moves/strided_copy.h"
#include "cpu/trees/score_rows.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";

/** Text and numbers as an element of type To. */
template <class To, class From>
To converted(const From& value) {
  if constexpr (std::is_same_v<To, std::string>) {
    if constexpr (std::is_same_v<From, std::string>) return value;
    if constexpr (!std::is_same_v<From, std::string>) return join(value);
  } else if constexpr (std::is_same_v<From, std::string>) {
    To result{};
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    require(error == std::errc() && end == value.data() + value.size(), ErrorCode::kInvalidArgument, "the text '",
            value, "' in the map is not a number that fits");
    return result;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    require(std::abs(value) < From(9e18), ErrorCode::kInvalidArgument, "the value ", value,
            " in the map does not fit int64");
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

class CastMap : public OpKernel {
 public:
  explicit CastMap(const KernelInfo& info)
      : type_(info.output_type(0).element),
        sparse_(info.node().string_or("map_form", "DENSE") == "SPARSE"),
        width_(info.node().int_or("max_map", 1)) {
    require(!sparse_ || (width_ > 0 && width_ <= 1 << 28), ErrorCode::kInvalidGraph, "max_map is ", width_,
            "; it must be positive");
  }
  void compute(KernelContext& context) const override {
    const Map& map = context.input_value(0).map();
    auto keys = map.keys.tensor().span<int64_t>();
    auto count = static_cast<int64_t>(keys.size());
    Tensor& output = context.output(0, type_, Shape{1, sparse_ ? width_ : count});
    constexpr TypeSet kTypes = ElementType::kFloat | ElementType::kInt64 | ElementType::kString;
    dispatch<kTypes>(type_, [&]<class To>(TypeTag<To>) {
      To* to = output.mutable_data<To>();
      std::fill_n(to, output.element_count(), To{});
      dispatch<kTypes | ElementType::kDouble>(map.values.tensor().type(), [&]<class From>(TypeTag<From>) {
        auto values = map.values.tensor().span<From>();
        base::TerminatePoll poll;
        for (size_t i = 0; i < keys.size(); ++i) {
          poll.work(8);
          int64_t place = sparse_ ? keys[i] : static_cast<int64_t>(i);
          require(place >= 0 && place < output.element_count(), ErrorCode::kInvalidArgument, "key ", place,
                  " is outside [0, ", width_ - 1, "]; raise max_map");
          to[place] = converted<To>(values[i]);
        }
      });
    });
  }

 private:
  ElementType type_;
  bool sparse_;
  int64_t width_;
};

class DictVectorizer : public OpKernel {
 public:
  explicit DictVectorizer(const KernelInfo& info) {
    const auto& words = info.node().strings("string_vocabulary");
    const auto& numbers = info.node().ints("int64_vocabulary");
    require(words.empty() != numbers.empty(), ErrorCode::kInvalidGraph,
            "give the vocabulary as either string_vocabulary or int64_vocabulary");
    for (size_t i = 0; i < words.size(); ++i) words_.try_emplace(words[i], i);
    for (size_t i = 0; i < numbers.size(); ++i) numbers_.try_emplace(numbers[i], i);
    width_ = static_cast<int64_t>(words.size() + numbers.size());
  }
  void compute(KernelContext& context) const override {
    const Map& map = context.input_value(0).map();
    Tensor& output = context.output(0, map.values.tensor().type(), Shape{1, width_});
    std::vector<std::pair<size_t, size_t>> places;  // of the output and of the map
    if (map.keys.tensor().type() == ElementType::kString) {
      find(words_, map.keys.tensor().span<std::string>(), places);
    } else {
      find(numbers_, map.keys.tensor().span<int64_t>(), places);
    }
    dispatch_moved(output.type(), [&]<class E>(TypeTag<E>) {
      auto* to = static_cast<E*>(output.mutable_raw());
      std::fill_n(to, width_, E{});
      for (auto [place, item] : places) to[place] = static_cast<const E*>(map.values.tensor().raw())[item];
    });
  }

 private:
  template <class Table, class Keys>
  static void find(const Table& table, const Keys& keys, std::vector<std::pair<size_t, size_t>>& places) {
    base::TerminatePoll poll;
    for (size_t i = 0; i < keys.size(); ++i) {
      poll.work(8);
      auto found = table.find(keys[i]);
      if (found != table.end()) places.emplace_back(found->second, i);
    }
  }

  std::unordered_map<std::string, size_t> words_;
  std::unordered_map<int64_t, size_t> numbers_;
  int64_t width_;
};

/** The order that sorts `keys`, without the later ones of equal keys. */
template <class K>
std::vector<size_t> ascending(const std::vector<K>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  auto equal = [&](size_t a, size_t b) { return keys[a] == keys[b]; };
  order.erase(std::unique(order.begin(), order.end(), equal), order.end());
  return order;
}

template <class K>
Tensor in_order(const std::vector<K>& keys, const std::vector<size_t>& order) {
  Tensor result(kTypeOf<K>, Shape{static_cast<int64_t>(order.size())});
  K* to = result.mutable_data<K>();
  for (size_t place : order) *to++ = keys[place];
  return result;
}

class ZipMap : public OpKernel {
 public:
  explicit ZipMap(const KernelInfo& info) {
    const auto& words = info.node().strings("classlabels_strings");
    const auto& numbers = info.node().ints("classlabels_int64s");
    require(words.empty() != numbers.empty(), ErrorCode::kInvalidGraph,
            "give the keys as either classlabels_strings or classlabels_int64s");
    order_ = words.empty() ? ascending(numbers) : ascending(words);
    keys_ = words.empty() ? in_order(numbers, order_) : in_order(words, order_);
    width_ = static_cast<int64_t>(words.size() + numbers.size());
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    FeatureRows table(input);
    require(table.features == width_, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(), " has ",
            table.features, " columns for ", width_, " keys");
    Value values = in_order_of_keys(input.data<float>(), table.rows);
    context.set_output(0, std::make_shared<Sequence>(MapRows{keys_, std::move(values)}));
  }

 private:
  /** Each row's values, one row after the other. */
  Tensor in_order_of_keys(const float* from, int64_t rows) const {
    Tensor values(ElementType::kFloat, Shape{rows, static_cast<int64_t>(order_.size())});
    float* to = values.mutable_data<float>();
    base::TerminatePoll poll;
    for (int64_t r = 0; r < rows; ++r, from += width_) {
      poll.work(width_);
      for (size_t place : order_) *to++ = from[place];
    }
    return values;
  }

  Tensor keys_;
  std::vector<size_t> order_;
  int64_t width_;
};

constexpr KernelRow kRows[] = {
    {kDomain, "CastMap", 1, kLatest, make_kernel<CastMap>},
    {kDomain, "DictVectorizer", 1, kLatest, make_kernel<DictVectorizer>},
    {kDomain, "ZipMap", 1, kLatest, make_kernel<ZipMap>},
};

}  // namespace

extern const KernelTable maps_rows;
const KernelTable maps_rows(kRows);

}  // namespace ortolan::cpu::ml
