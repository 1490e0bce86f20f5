// Kernels of the ai.onnx.ml operators on feature tensors: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer,
// Normalizer, OneHotEncoder, Scaler.
#include <cmath>
#include <unordered_map>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/checked_indices.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/strided_copy.h"
#include "cpu/trees/score_rows.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ml {
namespace {

constexpr const char* kDomain = "ai.onnx.ml";

class ArrayFeatureExtractor : public OpKernel {
 public:
  explicit ArrayFeatureExtractor(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    require(input.rank() > 0, ErrorCode::kInvalidArgument, "the input is a scalar; it must have features");
    int64_t width = input.shape().back();
    auto picks = checked_indices(context, context.input(1), width);
    require(!picks.empty(), ErrorCode::kInvalidArgument, "no indices are given");
    Tensor& output = context.output(0);
    int64_t rows = output.element_count() / static_cast<int64_t>(picks.size());
    dispatch_moved(input.type(), [&]<class E>(TypeTag<E>) {
      auto* from = static_cast<const E*>(input.raw());
      auto* to = static_cast<E*>(output.mutable_raw());
      base::TerminatePoll poll;
      for (int64_t r = 0; r < rows; ++r, from += width) {
        base::polled_loop(poll, std::ssize(picks), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) put(*to++, from[picks[i]]);
        });
      }
    });
  }
};

class Binarizer : public OpKernel {
 public:
  explicit Binarizer(const KernelInfo& info) : threshold_(info.node().float_or("threshold", 0.0f)) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    dispatch<kFeatureTypes>(input.type(), [&]<class T>(TypeTag<T>) {
      const T* from = input.data<T>();
      T* to = output.mutable_data<T>();
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(input.element_count(), least, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(static_cast<double>(from[i]) > threshold_);
      });
    });
  }

 private:
  double threshold_;
};

class FeatureVectorizer : public OpKernel {
 public:
  explicit FeatureVectorizer(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    Tensor& output = context.output(0);
    int64_t rows = output.shape()[0], stride = output.shape()[1], offset = 0;
    for (size_t i = 0; i < context.input_count(); ++i) {
      FeatureRows table(context.input(i));
      const float* from = features_as_floats(context, context.input(i));
      base::TerminatePoll poll;
      for (int64_t r = 0; table.features > 0 && r < rows; ++r) {
        poll.work(1 + table.features);
        put_n(from + r * table.features, table.features, output.mutable_data<float>() + r * stride + offset);
      }
      offset += table.features;
    }
  }
};

class Imputer : public OpKernel {
 public:
  explicit Imputer(const KernelInfo& info)
      : floats_(info.node().floats("imputed_value_floats")),
        ints_(info.node().ints("imputed_value_int64s")),
        replaced_float_(info.node().float_or("replaced_value_float", 0.0f)),
        replaced_int_(info.node().int_or("replaced_value_int64", 0)) {
    require(floats_.empty() != ints_.empty(), ErrorCode::kInvalidGraph,
            "give the values to put in as either imputed_value_floats or imputed_value_int64s");
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    dispatch<kFeatureTypes>(input.type(), [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>) {
        impute<T>(input, output, ints_, static_cast<T>(replaced_int_));
      } else {
        impute<T>(input, output, floats_, static_cast<T>(replaced_float_));
      }
    });
  }

 private:
  template <class T, class V>
  static void impute(const Tensor& input, Tensor& output, const std::vector<V>& values, T replaced) {
    auto width = static_cast<int64_t>(values.size());
    int64_t features = input.rank() > 0 ? input.shape().back() : 1;
    require(width == 1 || (width > 0 && width == features), ErrorCode::kInvalidArgument, "there are ", width,
            " imputed values of the input's kind for ", features, " features; give one, or one for each feature");
    const T* from = input.data<T>();
    T* to = output.mutable_data<T>();
    std::vector<T> wanted(values.begin(), values.end());
    if (width == 1) wanted.resize(static_cast<size_t>(features), wanted[0]);
    base::TerminatePoll poll;
    for (int64_t i = 0; i < input.element_count(); i += features) {
      base::polled_loop(poll, features, [&](int64_t begin, int64_t end) {
        impute_row(from + i + begin, wanted.data() + begin, to + i + begin, end - begin, replaced);
      });
    }
  }

  template <class T>
  static void impute_row(const T* from, const T* values, T* to, int64_t count, T replaced) {
    if (replaced != replaced) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i] != from[i] ? values[i] : from[i];
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i] == replaced ? values[i] : from[i];
    }
  }

  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  float replaced_float_;
  int64_t replaced_int_;
};

class Normalizer : public OpKernel {
 public:
  explicit Normalizer(const KernelInfo& info) {
    std::string_view norm = info.node().string_or("norm", "MAX");
    constexpr std::string_view kNames[] = {"MAX", "L1", "L2"};
    auto found = std::ranges::find(kNames, norm);
    require(found != std::end(kNames), ErrorCode::kInvalidGraph, "norm '", norm,
            "' is unknown; it must be MAX, L1 or L2");
    norm_ = static_cast<Norm>(found - std::begin(kNames));
  }
  void compute(KernelContext& context) const override {
    FeatureRows table(context.input(0));
    const float* from = features_as_floats(context, context.input(0));
    float* to = context.output(0).mutable_data<float>();
    switch (norm_) {
      case Norm::kMax:
        return normalize<Norm::kMax>(table, from, to);
      case Norm::kL1:
        return normalize<Norm::kL1>(table, from, to);
      case Norm::kL2:
        return normalize<Norm::kL2>(table, from, to);
    }
  }

 private:
  enum class Norm { kMax, kL1, kL2 };

  /** What element x makes of a divisor. */
  template <Norm kNorm>
  static double joined(double divisor, double x) {
    if constexpr (kNorm == Norm::kMax) return divisor < x ? x : divisor;
    if constexpr (kNorm == Norm::kL1) return divisor + std::abs(x);
    return divisor + x * x;
  }

  template <Norm kNorm>
  static double divisor_of(const float* row, int64_t count) {
    double part[4];
    std::ranges::fill(part, kNorm == Norm::kMax && count > 0 ? row[0] : 0);
    base::polled_loop(count, [&](int64_t begin, int64_t end) {
      int64_t i = begin;
      for (; i + 4 <= end; i += 4) {
        for (int lane = 0; lane < 4; ++lane) part[lane] = joined<kNorm>(part[lane], row[i + lane]);
      }
      for (; i < end; ++i) part[0] = joined<kNorm>(part[0], row[i]);
    });
    if constexpr (kNorm == Norm::kMax) return std::max(std::max(part[0], part[1]), std::max(part[2], part[3]));
    const double sum = (part[0] + part[1]) + (part[2] + part[3]);
    return kNorm == Norm::kL2 ? std::sqrt(sum) : sum;
  }

  template <Norm kNorm>
  static void normalize(const FeatureRows& table, const float* from, float* to) {
    const int64_t count = table.features;
    base::TerminatePoll poll;
    for (int64_t r = 0; count > 0 && r < table.rows; ++r, from += count, to += count) {
      poll.work(1 + count);
      const double divisor = divisor_of<kNorm>(from, count);
      const double factor = divisor != 0 ? 1 / divisor : 1;  // of doubles, so that products round as quotients do
      base::polled_loop(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * factor);
      });
    }
  }

  Norm norm_;
};

class OneHotEncoder : public OpKernel {
 public:
  explicit OneHotEncoder(const KernelInfo& info) : zeros_(info.node().int_or("zeros", 1) != 0) {
    const auto& ints = info.node().ints("cats_int64s");
    const auto& strings = info.node().strings("cats_strings");
    require(ints.empty() != strings.empty(), ErrorCode::kInvalidGraph,
            "give the categories as either cats_int64s or cats_strings");
    for (size_t i = 0; i < ints.size(); ++i) ints_.try_emplace(ints[i], static_cast<int64_t>(i));
    for (size_t i = 0; i < strings.size(); ++i) strings_.try_emplace(strings[i], static_cast<int64_t>(i));
    count_ = static_cast<int64_t>(ints.size() + strings.size());
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    auto to = context.output(0).mutable_span<float>();
    put_copies(to.data(), std::ssize(to), 0.0f);
    dispatch<kFeatureTypes | ElementType::kString>(input.type(), [&]<class T>(TypeTag<T>) {
      auto values = input.span<T>();
      base::TerminatePoll poll;
      for (size_t i = 0; i < values.size(); ++i) {
        poll.work(8);
        int64_t category = find(values[i]);
        require(category >= 0 || zeros_, ErrorCode::kInvalidArgument, "element ", i,
                " is none of the categories; add it to them or set zeros to 1");
        if (category >= 0) to[i * static_cast<size_t>(count_) + static_cast<size_t>(category)] = 1;
      }
    });
  }

 private:
  template <class T>
  int64_t find(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>) {
      auto found = strings_.find(value);
      return found == strings_.end() ? -1 : found->second;
    } else {
      auto number = static_cast<double>(value);
      if (!(std::abs(number) < 9e18)) return -1;
      auto found = ints_.find(static_cast<int64_t>(value));
      return found == ints_.end() ? -1 : found->second;
    }
  }

  bool zeros_;
  int64_t count_;
  std::unordered_map<int64_t, int64_t> ints_;
  std::unordered_map<std::string, int64_t> strings_;
};

class Scaler : public OpKernel {
 public:
  explicit Scaler(const KernelInfo& info) : offset_(info.node().floats("offset")), scale_(info.node().floats("scale")) {
    if (offset_.empty()) offset_ = {0};
    if (scale_.empty()) scale_ = {1};
  }
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    size_t features = input.rank() > 0 ? static_cast<size_t>(input.shape().back()) : 1;
    bool fits =
        (offset_.size() == 1 || offset_.size() == features) && (scale_.size() == 1 || scale_.size() == features);
    require(fits, ErrorCode::kInvalidArgument, "offset has ", offset_.size(), " and scale ", scale_.size(),
            " entries for ", features, " features; give one, or one for each feature");
    const float* from = features_as_floats(context, input);
    auto to = context.output(0).mutable_span<float>();
    std::vector<float> offset = spread(offset_, features), scale = spread(scale_, features);
    base::TerminatePoll poll;
    for (size_t row = 0; row < to.size(); row += features) {
      base::polled_loop(poll, static_cast<int64_t>(features), [&](int64_t begin, int64_t end) {
        for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
          to[row + i] = (from[row + i] - offset[i]) * scale[i];
        }
      });
    }
  }

 private:
  /** One value for each feature. */
  static std::vector<float> spread(const std::vector<float>& values, size_t features) {
    return values.size() == features ? values : std::vector<float>(features, values[0]);
  }

  std::vector<float> offset_, scale_;
};

constexpr KernelRow kRows[] = {
    {kDomain, "ArrayFeatureExtractor", 1, kLatest, make_kernel<ArrayFeatureExtractor>},
    {kDomain, "Binarizer", 1, kLatest, make_kernel<Binarizer>},
    {kDomain, "FeatureVectorizer", 1, kLatest, make_kernel<FeatureVectorizer>},
    {kDomain, "Imputer", 1, kLatest, make_kernel<Imputer>},
    {kDomain, "Normalizer", 1, kLatest, make_kernel<Normalizer>},
    {kDomain, "OneHotEncoder", 1, kLatest, make_kernel<OneHotEncoder>},
    {kDomain, "Scaler", 1, kLatest, make_kernel<Scaler>},
};

}  // namespace

extern const KernelTable features_rows;
const KernelTable features_rows(kRows);

}  // namespace ortolan::cpu::ml
