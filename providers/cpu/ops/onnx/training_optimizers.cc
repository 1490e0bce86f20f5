// One step of Adagrad, Adam or Momentum.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/element_conversion.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The tensors of one step, all of `count` elements. State 1 is Adam's only. */
template <class T>
struct StepTensors {
  int64_t count;
  const T* value;
  const T* gradient;
  const T* state[2];
  T* new_value;
  T* new_state[2];
};

class Optimizer : public OpKernel {
 public:
  explicit Optimizer(const KernelInfo& info) {
    const Node& node = info.node();
    if (node.op_type == "Adagrad") {
      decay_ = node.float_or("decay_factor", 0);
    } else if (node.op_type == "Adam") {
      states_ = 2;
      alpha_ = node.float_or("alpha", 0.9f);
      beta_ = node.float_or("beta", 0.999f);
      post_norm_ = node.float_or("norm_coefficient_post", 0);
    } else {
      alpha_ = node.float_of("alpha");
      beta_ = node.float_of("beta");
      const std::string& mode = node.string_of("mode");
      require(mode == "standard" || mode == "nesterov", ErrorCode::kInvalidGraph, "attribute mode is '", mode,
              "'; set it to 'standard' or 'nesterov'");
      nesterov_ = mode == "nesterov";
      is_momentum_ = true;
    }
    norm_ = node.float_or("norm_coefficient", 0);
    epsilon_ = node.float_or("epsilon", 1e-6f);
  }

  void compute(KernelContext& context) const override {
    size_t n = (context.input_count() - 2) / (2 + states_);
    Tensor rate(ElementType::kDouble, context.input(0).shape());
    convert_elements(context.input(0), rate, {}, context.threads());
    std::vector<int64_t> updates = to_int64s(context.input(1));
    require(rate.element_count() == 1 && updates.size() == 1, ErrorCode::kInvalidArgument,
            "learning rate and update count have ", rate.element_count(), " and ", updates.size(),
            " elements; give scalars");
    for (size_t i = 0; i < n; ++i) {
      dispatch<kFloat32And64>(context.input(2 + i).type(), [&]<class T>(TypeTag<T>) {
        StepTensors<T> tensors = collect<T>(context, i, n);
        step(context.threads(), tensors, *rate.data<double>(), updates[0]);
      });
    }
  }

 private:
  template <class T>
  StepTensors<T> collect(KernelContext& context, size_t i, size_t n) const {
    StepTensors<T> tensors{};
    const Tensor& value = context.input(2 + i);
    const Tensor& gradient = context.input(2 + n + i);
    require(gradient.shape() == value.shape(), ErrorCode::kInvalidArgument, "a gradient of shape ", gradient.shape(),
            " does not match its tensor of shape ", value.shape());
    tensors.count = value.element_count();
    tensors.value = value.data<T>();
    tensors.gradient = gradient.data<T>();
    tensors.new_value = output<T>(context, i, tensors.count);
    for (size_t s = 0; s < states_; ++s) {
      const Tensor& state = context.input(2 + (2 + s) * n + i);
      require(state.shape() == value.shape(), ErrorCode::kInvalidArgument, "a state of shape ", state.shape(),
              " does not match its tensor of shape ", value.shape());
      tensors.state[s] = state.data<T>();
      tensors.new_state[s] = output<T>(context, (1 + s) * n + i, tensors.count);
    }
    return tensors;
  }

  template <class T>
  static T* output(KernelContext& context, size_t i, int64_t count) {
    if (!context.has_output(i)) return context.scratch<T>(count).data();
    return context.output(i).mutable_data<T>();
  }

  template <class T>
  void step(ThreadPool& threads, const StepTensors<T>& t, double rate, int64_t updates) const {
    threads.parallel_for(t.count, kernels::least_items(kernels::kScalarNs), [&](int64_t begin, int64_t end) {
      if (is_momentum_) return momentum(t, begin, end, rate, updates);
      states_ == 2 ? adam(t, begin, end, rate, updates) : adagrad(t, begin, end, rate, updates);
    });
  }

  template <class T>
  void adagrad(const StepTensors<T>& t, int64_t begin, int64_t end, double rate, int64_t updates) const {
    double r = rate / (1 + static_cast<double>(updates) * decay_);
    for (int64_t i = begin; i < end; ++i) {
      double gradient = norm_ * t.value[i] + t.gradient[i];
      double sum = t.state[0][i] + gradient * gradient;
      t.new_state[0][i] = static_cast<T>(sum);
      t.new_value[i] = static_cast<T>(t.value[i] - r * gradient / (std::sqrt(sum) + epsilon_));
    }
  }

  template <class T>
  void adam(const StepTensors<T>& t, int64_t begin, int64_t end, double rate, int64_t updates) const {
    if (updates > 0) {
      auto power = static_cast<double>(updates);
      rate *= std::sqrt(1 - std::pow(beta_, power)) / (1 - std::pow(alpha_, power));
    }
    for (int64_t i = begin; i < end; ++i) {
      double gradient = norm_ * t.value[i] + t.gradient[i];
      double mean = alpha_ * t.state[0][i] + (1 - alpha_) * gradient;
      double square = beta_ * t.state[1][i] + (1 - beta_) * gradient * gradient;
      double value = t.value[i] - rate * mean / (std::sqrt(square) + epsilon_);
      t.new_state[0][i] = static_cast<T>(mean);
      t.new_state[1][i] = static_cast<T>(square);
      t.new_value[i] = static_cast<T>((1 - post_norm_) * value);
    }
  }

  template <class T>
  void momentum(const StepTensors<T>& t, int64_t begin, int64_t end, double rate, int64_t updates) const {
    double beta = updates > 0 ? beta_ : 1;
    for (int64_t i = begin; i < end; ++i) {
      double gradient = norm_ * t.value[i] + t.gradient[i];
      double velocity = alpha_ * t.state[0][i] + beta * gradient;
      double direction = nesterov_ ? gradient + alpha_ * velocity : velocity;
      t.new_state[0][i] = static_cast<T>(velocity);
      t.new_value[i] = static_cast<T>(t.value[i] - rate * direction);
    }
  }

  size_t states_ = 1;
  bool is_momentum_ = false, nesterov_ = false;
  double alpha_ = 0, beta_ = 0, decay_ = 0, norm_ = 0, post_norm_ = 0, epsilon_ = 0;
};

constexpr char kDomain[] = "ai.onnx.preview.training";

constexpr KernelRow kRows[] = {
    {kDomain, "Adagrad", 1, kLatest, make_kernel<Optimizer>, {{0, kFloat32And64}}},
    {kDomain, "Adam", 1, kLatest, make_kernel<Optimizer>, {{0, kFloat32And64}}},
    {kDomain, "Momentum", 1, kLatest, make_kernel<Optimizer>, {{0, kFloat32And64}}},
};

}  // namespace

extern const KernelTable training_optimizers_rows;
constinit const KernelTable training_optimizers_rows(kRows);

}  // namespace ortolan::cpu::onnx
