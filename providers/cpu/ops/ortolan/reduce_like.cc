// ReduceLike: sums over the dimensions that broadcasting gave.
#include <algorithm>
#include <vector>

#include "base/threads/polled_loop.h"
#include "cpu/elements/element_conversion.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ortolan {
namespace {

/** Element steps in `small` for each dimension of `large`: zero where `small` is broadcast. */
std::vector<int64_t> broadcast_strides(const Shape& small, const Shape& large) {
  require(small.rank() <= large.rank(), ErrorCode::kInvalidArgument, "shape ", small, " does not broadcast to ", large);
  std::vector<int64_t> strides(large.rank(), 0);
  int64_t stride = 1;
  for (size_t i = small.rank(); i-- > 0;) {
    size_t at = i + large.rank() - small.rank();
    require(small[i] == 1 || small[i] == large[at], ErrorCode::kInvalidArgument, "shape ", small,
            " does not broadcast to ", large);
    if (small[i] != 1) strides[at] = stride;
    stride *= small[i];
  }
  return strides;
}

class ReduceLike final : public OpKernel {
 public:
  explicit ReduceLike(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(context.input(0).type(), [&]<class T>(TypeTag<T>) {
      const Tensor& large = context.input(0);
      Tensor& out = context.output(0);
      sum(large, broadcast_strides(out.shape(), large.shape()), out.mutable_data<T>(), out.element_count());
    });
  }

 private:
  template <class T>
  static void sum(const Tensor& large, const std::vector<int64_t>& strides, T* out, int64_t count) {
    put_copies(out, count, T(0));
    const T* from = large.data<T>();
    std::vector<int64_t> index(strides.size(), 0);
    int64_t target = 0;
    base::polled_loop(large.element_count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[target] += from[i];
        for (size_t d = strides.size(); d-- > 0;) {
          target += strides[d];
          if (++index[d] < large.shape()[d]) break;
          target -= strides[d] * index[d];
          index[d] = 0;
        }
      }
    });
  }
};

constexpr KernelRow kRows[] = {
    {"ortolan", "ReduceLike", 1, kLatest, make_kernel<ReduceLike>, {{0, kFloat32And64}}},
};

}  // namespace

extern const KernelTable reduce_like_rows;
const KernelTable reduce_like_rows(kRows);
}  // namespace ortolan::cpu::ortolan
