// Kernels that combine two inputs, or any number of them, element by element with broadcasting.
#pragma once

#include "cpu/elements/broadcast.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu {
using namespace runtime;

/** One operation on elements of one type, as loops over contiguous elements: of both sides, or of one with a scalar on
    the other. Outputs may be the inputs. */
struct BinaryLoops {
  using Loop = void (*)(const void* a, const void* b, void* y, int64_t count);
  Loop vectors = nullptr;
  Loop scalar_a = nullptr;
  Loop scalar_b = nullptr;
  double element_ns = kernels::kElementNs;

  int64_t least_elements() const { return kernels::least_items(element_ns); }
};

/** The kernels' loops, which exist. */
constexpr BinaryLoops loops_of(const kernels::NumberLoops& loops, double element_ns = kernels::kElementNs) {
  return {loops.vectors, loops.scalar_a, loops.scalar_b, element_ns};
}

/** The three loops of `kFunction(In, In) -> Out`. Out may be the inputs element for element, which ivdep says. */
template <class In, class Out, auto kFunction>
constexpr BinaryLoops loops_of(double element_ns = kernels::kElementNs) {
  return {[](const void* a, const void* b, void* y, int64_t count) {
            auto *x0 = static_cast<const In*>(a), *x1 = static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep
            for (int64_t i = 0; i < count; ++i) out[i] = kFunction(x0[i], x1[i]);
          },
          [](const void* a, const void* b, void* y, int64_t count) {
            const In x0 = *static_cast<const In*>(a);
            auto* x1 = static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep
            for (int64_t i = 0; i < count; ++i) out[i] = kFunction(x0, x1[i]);
          },
          [](const void* a, const void* b, void* y, int64_t count) {
            auto* x0 = static_cast<const In*>(a);
            const In x1 = *static_cast<const In*>(b);
            auto* out = static_cast<Out*>(y);
#pragma GCC ivdep
            for (int64_t i = 0; i < count; ++i) out[i] = kFunction(x0[i], x1);
          },
          element_ns};
}

/** y = a op b, broadcast. float16 and bfloat16 are computed in float. All tensors are on the CPU; `y` has the shape
    that the inputs broadcast to and is of the inputs' type, or bool. Throws where a shape does not fit y's. */
void run_binary(const BinaryLoops& loops, const Tensor& a, const Shape& a_shape, const Tensor& b, const Shape& b_shape,
                Tensor& y, ThreadPool& threads);

/** Where input 1 stands against input 0 in opsets before 7: attribute `axis` names the dimension of input 0 that
    input 1's first one matches; without it their last dimensions match. */
class LegacyAlignment {
 public:
  explicit LegacyAlignment(const Node& node);
  bool needed() const { return aligned_; }
  /** The shape of input 1 with ones after it, so that numpy's rule places it. */
  Shape apply(const Shape& a, const Shape& b) const;

 private:
  bool aligned_ = false;
  int64_t axis_ = 0;
};

/** The loops for elements of `type` (never float16 or bfloat16), chosen by the node's attributes. */
using FindLoops = BinaryLoops (*)(const Node& node, ElementType type);

/** A kernel of two inputs. */
class ElementwiseBinary : public OpKernel {
 public:
  ElementwiseBinary(const KernelInfo& info, FindLoops find);
  void compute(KernelContext& context) const override;

 private:
  ElementType type_;
  BinaryLoops loops_;
  LegacyAlignment legacy_;
};

/** A kernel of one input or more, folded from the left; float16 and bfloat16 are rounded once, at the end. */
class ElementwiseVariadic : public OpKernel {
 public:
  ElementwiseVariadic(const KernelInfo& info, FindLoops find);
  void compute(KernelContext& context) const override;

 protected:
  /** What happens to the folded values, which are of type compute_type(…). */
  virtual void finish(Tensor& y, size_t inputs, ThreadPool& threads) const {}

 private:
  void fold(KernelContext& context, Tensor& y) const;

  ElementType type_;
  BinaryLoops loops_;
};

template <FindLoops kFind>
std::unique_ptr<OpKernel> make_binary(const KernelInfo& info) {
  return std::make_unique<ElementwiseBinary>(info, kFind);
}
template <FindLoops kFind>
std::unique_ptr<OpKernel> make_variadic(const KernelInfo& info) {
  return std::make_unique<ElementwiseVariadic>(info, kFind);
}

}  // namespace ortolan::cpu
