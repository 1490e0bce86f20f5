// MoE over floats, QMoE over narrow weights. Constant weights are packed once.
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/quantised/matmul_nbits.h"
#include "cpu/products/mixture_of_experts.h"
#include "cpu/products/packed_form.h"
#include "cpu/quantised/nbits_weights.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

const char* const kNames[] = {"fc1", "fc2", "fc3"};

class MoE final : public MixtureOfExperts {
 public:
  explicit MoE(const KernelInfo& info) : MixtureOfExperts(info) {
    if (!info.weights_input(2) || !info.weights_input(4)) return;
    const Shape &fc1 = info.weights_input(2)->shape(), &fc2 = info.weights_input(4)->shape();
    if (fc1.rank() != 3 || fc2.rank() != 3) return;
    const SymbolicShape& x = info.input_type(0).shape;
    bool known = x.has_rank() && x.rank() > 0 && x[x.rank() - 1].known();
    packed_transposed_ = transposed(fc1, fc2, known ? x[x.rank() - 1].value() : fc1[2]);
    for (Layer layer : {kFc1, kFc2, kFc3}) {
      const Tensor* weights = info.weights_input(weights_input(layer));
      if (!weights || weights->rank() != 3 || weights->element_count() == 0) continue;
      auto pack = [](auto&... what) { return pack_experts(what...); };
      packed_[layer] = pack_once(info, *weights, "moe_f32", pack, packed_transposed_);
    }
  }

  ConstantUse constant_use(size_t i) const override {
    bool packed = i >= 2 && i % 2 == 0 && i <= 6 && packed_[i / 2 - 1];
    return packed ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  using Matrices = std::vector<kernels::PackedMatrix>;

  size_t weights_input(Layer layer) const override { return 2 + 2 * static_cast<size_t>(layer); }
  size_t bias_input(Layer layer) const override { return 3 + 2 * static_cast<size_t>(layer); }
  bool is_packed(Layer layer) const override { return packed_[layer] != nullptr; }
  const float* given_weights(KernelContext&, const Sizes&) const override { return nullptr; }
  RoutingWeights plain_routing() const override { return RoutingWeights::kSoftmax; }

  /** Whether experts hold a row for each result, [experts, results, inputs], which is also ones that fit both are taken
      for; older models have [experts, inputs, results]. */
  static bool transposed(const Shape& fc1, const Shape& fc2, int64_t hidden) {
    return (fc1[2] == hidden && fc2[1] == hidden) || fc1[1] != hidden || fc2[2] != hidden;
  }
  static bool transposed(const KernelContext& context) {
    return transposed(context.input(2).shape(), context.input(4).shape(), context.input(0).shape().back());
  }

  Sizes weight_sizes(const KernelContext& context) const override {
    const Shape &fc1 = context.input(2).shape(), &fc2 = context.input(4).shape();
    const Tensor* fc3 = context.input_if(6);
    require(fc1.rank() == 3 && fc2.rank() == 3, ErrorCode::kInvalidArgument, "the weights of fc1, ", fc1, ", and fc2, ",
            fc2, ", must have rank 3");
    bool rows = transposed(context);
    require(!packed_[kFc1] || rows == packed_transposed_, ErrorCode::kInvalidArgument, "the input has rows of ",
            context.input(0).shape().back(), ", for which fc1 ", fc1,
            " is in the older layout; state the input's shape in "
            "the model so that this is known when it is loaded");
    Sizes s{0, fc2[rows ? 1 : 2], fc2[rows ? 2 : 1], fc1[0], 0, fc3 != nullptr};
    int64_t wide = checked_mul(s.inter, parts());
    Shape wanted = rows ? Shape{s.experts, wide, s.hidden} : Shape{s.experts, s.hidden, wide};
    require(fc1 == wanted && fc2[0] == s.experts, ErrorCode::kInvalidArgument, "fc1 ", fc1, " and fc2 ", fc2,
            " do not fit together; for this fc2 fc1 needs ", wanted);
    Shape third = rows ? Shape{s.experts, s.inter, s.hidden} : Shape{s.experts, s.hidden, s.inter};
    require(!fc3 || fc3->shape() == third, ErrorCode::kInvalidArgument, "fc3 has shape ", fc3 ? fc3->shape() : Shape(),
            "; it needs ", third);
    return s;
  }

  static kernels::PackedMatrix pack_expert(ThreadPool* threads, const float* data, const Shape& shape,
                                           bool transposed) {
    int64_t rows = shape[1], columns = shape[2];
    return kernels::pack_b(threads, transposed ? columns : rows, transposed ? rows : columns, data, columns,
                           transposed);
  }

  static Matrices pack_experts(ThreadPool& threads, const Tensor& weights, bool transposed) {
    const Shape& shape = weights.shape();
    Matrices matrices;
    std::vector<float> floats(static_cast<size_t>(shape[1] * shape[2]));
    auto* from = static_cast<const char*>(weights.raw());
    size_t bytes = bytes_for(weights.type(), shape[1] * shape[2]);
    for (int64_t e = 0; e < shape[0]; ++e) {
      if (!base::parts_are_kept()) {
        convert_floats(nullptr, from + e * bytes, weights.type(), floats.data(), ElementType::kFloat,
                       shape[1] * shape[2]);
      }
      matrices.push_back(pack_expert(&threads, floats.data(), shape, transposed));
    }
    return matrices;
  }

  void multiply(KernelContext& context, ThreadPool* threads, Layer layer, const Sizes&, int64_t expert, int64_t m,
                const float* a, const float* bias, float* c) const override {
    kernels::Epilogue epilogue;
    if (bias) epilogue.bias = bias, epilogue.bias_kind = kernels::BiasKind::kColumn;
    if (packed_[layer]) return product(threads, (*packed_[layer])[expert], m, a, epilogue, c);
    const Tensor& weights = context.input(weights_input(layer));
    int64_t count = weights.shape().count_from(1);
    std::vector<float> floats(static_cast<size_t>(count));
    auto* from = static_cast<const char*>(weights.raw()) + expert * bytes_for(weights.type(), count);
    convert_floats(nullptr, from, weights.type(), floats.data(), ElementType::kFloat, count);
    product(threads, pack_expert(threads, floats.data(), weights.shape(), transposed(context)), m, a, epilogue, c);
  }

  static void product(ThreadPool* threads, const kernels::PackedMatrix& b, int64_t m, const float* a,
                      const kernels::Epilogue& epilogue, float* c) {
    kernels::gemm(threads, m, a, b.k(), false, b, c, b.n(), epilogue);
  }

  std::shared_ptr<const Matrices> packed_[3];
  bool packed_transposed_ = true;
};

/** Experts' weights are [experts, results, inputs * bits / 8], the first element of a byte in its low bits; scales
    [experts, results], or [experts, results, blocks] where block_size is set; zero points as scales, packed as weights
    along their last dimension. */
class QMoE final : public MixtureOfExperts {
 public:
  explicit QMoE(const KernelInfo& info)
      : MixtureOfExperts(info),
        block_(info.node().int_or("block_size", 0)),
        bytes_(info.node().int_or("accuracy_level", 0) == 4) {
    int64_t bits = info.node().int_or("expert_weight_bits", 4);
    require(bits == 2 || bits == 4 || bits == 8, ErrorCode::kInvalidGraph, "expert_weight_bits is ", bits,
            "; it must be 2, 4 or 8");
    require(block_ == 0 || (block_ >= 16 && (block_ & (block_ - 1)) == 0 && block_ <= INT32_MAX),
            ErrorCode::kInvalidGraph, "block_size is ", block_, "; it must be 0 or a power of two and at least 16");
    require(info.node().string_or("quant_type", "int") == "int", ErrorCode::kNotImplemented, "quant_type is '",
            info.node().string_or("quant_type", "int"), "'; only 'int' is supported");
    bits_ = static_cast<int>(bits);
    for (Layer layer : {kFc1, kFc2, kFc3}) {
      Tensors t{info.weights_input(weights_input(layer)), info.constant_input(weights_input(layer) + 1),
                info.constant_input(zeros_input(layer))};
      if (!t.data || !t.scales || (!t.zeros && info.has_input(zeros_input(layer)))) continue;
      check(layer, t);
      for (int64_t e = 0; e < t.data->shape()[0]; ++e) packed_[layer].push_back(pack(&info.threads(), t, e));
    }
  }

  ConstantUse constant_use(size_t i) const override {
    for (Layer layer : {kFc1, kFc2, kFc3}) {
      size_t w = weights_input(layer);
      if (!packed_[layer].empty() && (i == w || i == w + 1 || i == zeros_input(layer))) return ConstantUse::kNothing;
    }
    return ConstantUse::kElements;
  }

 private:
  struct Tensors {
    const Tensor* data = nullptr;
    const Tensor* scales = nullptr;
    const Tensor* zeros = nullptr;
  };

  size_t weights_input(Layer layer) const override { return 2 + 3 * static_cast<size_t>(layer); }
  size_t bias_input(Layer layer) const override { return 4 + 3 * static_cast<size_t>(layer); }
  static size_t zeros_input(Layer layer) { return 11 + static_cast<size_t>(layer); }
  /** Without router_weights, the CPU kernel that users know weighs by the softmax of the chosen logits. */
  RoutingWeights plain_routing() const override { return RoutingWeights::kSoftmaxOfTop; }
  bool is_packed(Layer layer) const override { return !packed_[layer].empty(); }
  int64_t per_byte() const { return 8 / bits_; }

  const float* given_weights(KernelContext& context, const Sizes& s) const override {
    const Tensor* given = context.input_if(14);
    require(!given || given->shape() == Shape{s.tokens, s.experts}, ErrorCode::kInvalidArgument,
            "router_weights has shape ", given ? given->shape() : Shape(), "; it needs [", s.tokens, ",", s.experts,
            "]");
    return given ? read_as<float>(context, *given) : nullptr;
  }

  /** Types and shapes of one layer. */
  void check(Layer layer, const Tensors& t) const {
    const Shape& data = t.data->shape();
    require(t.data->type() == ElementType::kUInt8 && data.rank() == 3, ErrorCode::kInvalidArgument, kNames[layer],
            " has shape ", data, "; its weights must be uint8 of rank 3");
    int64_t inputs = checked_mul(data[2], per_byte()),
            blocks = block_ == 0 ? 1 : inputs / block_ + (inputs % block_ != 0);
    Shape wanted{data[0], data[1], blocks};
    const Shape& scales = t.scales->shape();
    bool fits = scales == wanted || (block_ == 0 && scales == Shape{data[0], data[1]});
    require(fits && kFloatTypes.contains(t.scales->type()), ErrorCode::kInvalidArgument, "the scales of ",
            kNames[layer], " have shape ", scales, "; ", data, " in blocks of ", block_, " needs floats of ", wanted);
    if (!t.zeros) return;
    const Shape& zeros = t.zeros->shape();
    Shape packed = block_ == 0 ? Shape{data[0], (data[1] + per_byte() - 1) / per_byte()}
                               : Shape{data[0], data[1], (blocks + per_byte() - 1) / per_byte()};
    require(zeros == packed && t.zeros->type() == ElementType::kUInt8, ErrorCode::kInvalidArgument,
            "the zero points of ", kNames[layer], " have shape ", zeros, "; they need bytes of ", packed);
  }

  kernels::NBitsMatrix pack(ThreadPool* threads, const Tensors& t, int64_t expert) const {
    const Shape& shape = t.data->shape();
    kernels::NBitsSource source{bits_, shape[1], shape[2] * per_byte()};
    source.block = block_ == 0 ? std::max<int64_t>((source.k + 15) / 16 * 16, 16) : block_;
    int64_t count = source.n * (block_ == 0 ? 1 : source.blocks());
    source.data = static_cast<const uint8_t*>(t.data->raw()) + expert * shape[1] * shape[2];
    source.row_bytes = shape[2];
    std::vector<float> scales(static_cast<size_t>(count));
    auto* from = static_cast<const char*>(t.scales->raw()) + expert * bytes_for(t.scales->type(), count);
    convert_floats(nullptr, from, t.scales->type(), scales.data(), ElementType::kFloat, count);
    source.scales = scales.data();
    std::vector<uint8_t> zeros;
    if (t.zeros) {
      int64_t rows = block_ == 0 ? 1 : source.n, columns = block_ == 0 ? source.n : source.blocks();
      auto* packed = static_cast<const uint8_t*>(t.zeros->raw()) + expert * t.zeros->shape().count_from(1);
      zeros = unpack_bytes(packed, rows, columns, bits_);
      source.zeros = zeros.data();
    }
    return kernels::pack_nbits(threads, source);
  }

  Tensors tensors(const KernelContext& context, Layer layer) const {
    size_t w = weights_input(layer);
    require(context.input_if(w + 1), ErrorCode::kInvalidArgument, "the scales of ", kNames[layer], " are missing");
    return {&context.input(w), context.input_if(w + 1), context.input_if(zeros_input(layer))};
  }

  Sizes weight_sizes(const KernelContext& context) const override {
    const Shape &fc1 = context.input(2).shape(), &fc2 = context.input(5).shape();
    const Tensor* fc3 = context.input_if(8);
    for (Layer layer : {kFc1, kFc2, kFc3}) {
      if (packed_[layer].empty() && (layer != kFc3 || fc3)) check(layer, tensors(context, layer));
    }
    Sizes s{0, fc2[1], checked_mul(fc2[2], per_byte()), fc1[0], 0, fc3 != nullptr};
    Shape wanted{s.experts, checked_mul(s.inter, parts()), s.hidden / per_byte()};
    require(fc1 == wanted && fc2[0] == s.experts && s.hidden % per_byte() == 0, ErrorCode::kInvalidArgument, "fc1 ",
            fc1, " and fc2 ", fc2, " do not fit together; for this fc2 fc1 needs ", wanted);
    Shape third{s.experts, s.inter, s.hidden / per_byte()};
    require(!fc3 || fc3->shape() == third, ErrorCode::kInvalidArgument, "fc3 has shape ", fc3 ? fc3->shape() : Shape(),
            "; it needs ", third);
    return s;
  }

  void multiply(KernelContext& context, ThreadPool* threads, Layer layer, const Sizes&, int64_t expert, int64_t m,
                const float* a, const float* bias, float* c) const override {
    auto product = [&](const kernels::NBitsMatrix& b) {
      kernels::matmul_nbits(threads, m, a, b.k, b, c, b.n, bias, bytes_);
    };
    packed_[layer].empty() ? product(pack(threads, tensors(context, layer), expert)) : product(packed_[layer][expert]);
  }

  int64_t block_;
  int bits_ = 4;
  bool bytes_;
  std::vector<kernels::NBitsMatrix> packed_[3];
};

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;

constexpr KernelRow kRows[] = {
    {"com.microsoft", "MoE", 1, kLatest, make_kernel<MoE>, {{0, kTypes}}},
    {"com.microsoft", "QMoE", 1, kLatest, make_kernel<QMoE>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable moe_rows;
const KernelTable moe_rows(kRows);
}  // namespace ortolan::cpu::microsoft
