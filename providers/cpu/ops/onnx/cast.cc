// Cast and CastLike. The target is the output's type, which the shape rule has read.
#include "cpu/elements/element_conversion.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class Cast : public OpKernel {
 public:
  explicit Cast(const KernelInfo& info) {
    const Node& node = info.node();
    options_.saturate = node.int_or("saturate", 1) != 0;
    std::string_view mode = node.string_or("round_mode", "up");
    require(mode == "up" || mode == "down" || mode == "nearest", ErrorCode::kInvalidGraph, "attribute round_mode is '",
            mode, "'; set it to 'up', 'down' or 'nearest'");
    options_.rounding = mode == "up"     ? PowerRounding::kUp
                        : mode == "down" ? PowerRounding::kDown
                                         : PowerRounding::kNearest;
  }

  void compute(KernelContext& context) const override {
    convert_elements(context.input(0), context.output(0), options_, context.threads());
  }

 private:
  ConversionOptions options_;
};

constexpr TypeSet kTypes = kAllTypes.without(kComplexTypes);

constexpr KernelRow kRows[] = {
    {"", "Cast", 1, kLatest, make_kernel<Cast>, {{0, kTypes}, {0, kTypes, true}}},
    {"", "CastLike", 15, kLatest, make_kernel<Cast>, {{0, kTypes}, {0, kTypes, true}}},
};

}  // namespace

extern const KernelTable cast_rows;
constinit const KernelTable cast_rows(kRows);

}  // namespace ortolan::cpu::onnx
