// Random tensors. With attribute seed a new session gives the same numbers again.
#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "cpu/elements/random_stream.h"

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/element_conversion.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, double>) return value;
  return T(static_cast<float>(value));
}

/** Elements as doubles, for the operators whose input is probabilities. */
Tensor as_doubles(const Tensor& tensor, KernelContext& context) {
  Tensor values(ElementType::kDouble, tensor.shape(), context.services().allocator);
  convert_elements(tensor, values, {}, context.threads());
  return values;
}

/** RandomNormal, RandomUniform and their …Like forms: a + b * draw. */
class RandomTensor : public OpKernel {
 public:
  explicit RandomTensor(const KernelInfo& info)
      : is_normal_(info.node().op_type.starts_with("RandomNormal")), random_(info.node()) {
    const Node& node = info.node();
    offset_ = is_normal_ ? node.float_or("mean", 0) : node.float_or("low", 0);
    factor_ = is_normal_ ? node.float_or("scale", 1) : node.float_or("high", 1) - offset_;
  }

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    RandomStream stream = random_.next();
    constexpr int64_t kBlock = RandomStream::kNormalBlock;
    int64_t count = y.element_count();
    dispatch<kFloatTypes>(y.type(), [&]<class T>(TypeTag<T>) {
      T* to = y.mutable_data<T>();
      const int64_t least = kernels::least_rows(kBlock, kernels::kFunctionNs);
      context.threads().parallel_for((count + kBlock - 1) / kBlock, least, [&](int64_t begin, int64_t end) {
        double draws[kBlock];
        for (int64_t block = begin; block < end; ++block) {
          int64_t first = block * kBlock, now = std::min(kBlock, count - first);
          draw(stream, block, std::span(draws, static_cast<size_t>(now)));
          for (int64_t i = 0; i < now; ++i) to[first + i] = from_double<T>(offset_ + factor_ * draws[i]);
        }
      });
    });
  }

 private:
  void draw(const RandomStream& stream, int64_t block, std::span<double> to) const {
    if (is_normal_) return stream.normals(block, to);
    int64_t index = block * RandomStream::kNormalBlock;
    for (double& value : to) value = stream.uniform(index++);
  }

  bool is_normal_;
  double offset_ = 0, factor_ = 1;
  RandomSource random_;
};

/** 1 with the probability that the input says. */
class Bernoulli : public OpKernel {
 public:
  explicit Bernoulli(const KernelInfo& info) : random_(info.node()) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor widened;
    if (x.type() != ElementType::kFloat) widened = as_doubles(x, context);
    Tensor& y = context.output(0);
    RandomStream stream = random_.next();
    dispatch<kNumericTypes | ElementType::kBool>(y.type(), [&]<class T>(TypeTag<T>) {
      x.type() == ElementType::kFloat ? draw<T>(context, stream, x.data<float>(), y)
                                      : draw<T>(context, stream, widened.data<double>(), y);
    });
  }

 private:
  /** Chooses without a branch, which nobody could foretell. */
  template <class T, class P>
  static void draw(KernelContext& context, const RandomStream& stream, const P* p, Tensor& y) {
    T* to = y.mutable_data<T>();
    const T choices[] = {T(0.0f), T(1.0f)};
    const int64_t least = kernels::least_items(kernels::kHashNs);
    context.threads().parallel_for(y.element_count(), least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = choices[stream.uniform(i) < static_cast<double>(p[i])];
    });
  }

  RandomSource random_;
};

/** The running sums of what the classes are worth, the most likely one 1; gives the last. */
double add_up(base::TerminatePoll& poll, const double* logits, std::span<double> sums) {
  double largest = logits[0], sum = 0;
  base::polled_loop(poll, std::ssize(sums), [&](int64_t begin, int64_t end) {
    largest = std::max(largest, *std::max_element(logits + begin, logits + end));
  });
  auto add = [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) sums[c] = sum += std::exp(logits[c] - largest);
  };
  base::polled_loop(poll, std::ssize(sums), add, 8);
  return sum;
}

/** Draws classes from unnormalised log-probabilities, a row of draws for each row of the input. */
class Multinomial : public OpKernel {
 public:
  explicit Multinomial(const KernelInfo& info) : random_(info.node()) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    require(x.rank() == 2 && (x.shape()[1] > 0 || x.shape()[0] == 0), ErrorCode::kInvalidArgument, "input of shape ",
            x.shape(), " gives no classes to draw from; it must be [batch, classes]");
    Tensor logits = as_doubles(x, context);
    RandomStream stream = random_.next();
    dispatch<ElementType::kInt32 | ElementType::kInt64>(y.type(), [&]<class T>(TypeTag<T>) {
      draw(logits.data<double>(), x.shape()[0], x.shape()[1], stream, y.mutable_data<T>(), y.shape()[1]);
    });
  }

 private:
  template <class T>
  static void draw(const double* logits, int64_t batch, int64_t classes, const RandomStream& stream, T* y,
                   int64_t samples) {
    auto sums = base::polled_vector<double>(classes);
    base::TerminatePoll poll;
    for (int64_t row = 0; row < batch; ++row, logits += classes) {
      const double sum = add_up(poll, logits, sums);
      auto choose = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double at = stream.uniform(row * samples + i) * sum;
          int64_t chosen = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
          y[row * samples + i] = static_cast<T>(std::min(chosen, classes - 1));
        }
      };
      base::polled_loop(poll, samples, choose, 16);
    }
  }

  RandomSource random_;
};

constexpr TypeSet kIndexTypes = ElementType::kInt32 | ElementType::kInt64;

constexpr KernelRow kRows[] = {
    {"", "RandomNormal", 1, kLatest, make_kernel<RandomTensor>, {{0, kFloatTypes, true}}},
    {"", "RandomUniform", 1, kLatest, make_kernel<RandomTensor>, {{0, kFloatTypes, true}}},
    {"", "RandomNormalLike", 1, kLatest, make_kernel<RandomTensor>, {{0, kFloatTypes, true}}},
    {"", "RandomUniformLike", 1, kLatest, make_kernel<RandomTensor>, {{0, kFloatTypes, true}}},
    {"",
     "Bernoulli",
     15,
     kLatest,
     make_kernel<Bernoulli>,
     {{0, kFloatTypes}, {0, kNumericTypes | ElementType::kBool, true}}},
    {"", "Multinomial", 7, kLatest, make_kernel<Multinomial>, {{0, kFloatTypes}, {0, kIndexTypes, true}}},
};

}  // namespace

extern const KernelTable random_rows;
constinit const KernelTable random_rows(kRows);

}  // namespace ortolan::cpu::onnx
