// EyeLike: zeros with ones on a diagonal.
#include <algorithm>

#include "base/threads/polled_loop.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class EyeLike : public OpKernel {
 public:
  explicit EyeLike(const KernelInfo& info) : k_(info.node().int_or("k", 0)) {}

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    require(y.rank() == 2, ErrorCode::kInvalidArgument, "input of shape ", y.shape(), " is no matrix");
    int64_t rows = y.shape()[0], columns = y.shape()[1];
    int64_t k = std::clamp(k_, -rows, columns);
    dispatch<kNumericTypes | ElementType::kBool>(y.type(), [&]<class T>(TypeTag<T>) {
      T* to = y.mutable_data<T>();
      put_copies(to, y.element_count(), T(0.0f));
      const int64_t first = std::max<int64_t>(0, -k), last = std::min(rows, columns - k);
      base::polled_loop(last - first, [&](int64_t begin, int64_t end) {
        for (int64_t row = first + begin; row < first + end; ++row) to[row * columns + row + k] = T(1.0f);
      });
    });
  }

 private:
  int64_t k_;
};

constexpr KernelRow kRows[] = {
    {"", "EyeLike", 9, kLatest, make_kernel<EyeLike>, {{0, kNumericTypes | ElementType::kBool, true}}}};

}  // namespace

extern const KernelTable eye_like_rows;
constinit const KernelTable eye_like_rows(kRows);

}  // namespace ortolan::cpu::onnx
