// ImageDecoder. A file that cannot be decoded is an error, which says more than the empty tensor that the specification
// speaks of.
#include "base/threads/polled_loop.h"
#include "cpu/pictures/image_decoding.h"

#include <utility>

#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Luma of BT.601 in 16 bits of fraction. */
uint8_t grey(const uint8_t* pixel) {
  return static_cast<uint8_t>((19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] + 32768u) >> 16);
}

class ImageDecoder final : public OpKernel {
 public:
  explicit ImageDecoder(const KernelInfo& info) {
    std::string_view format = info.node().string_or("pixel_format", "RGB");
    grey_ = format == "Grayscale";
    blue_first_ = format == "BGR";
  }

  void compute(KernelContext& context) const override {
    std::span<const uint8_t> file = context.input(0).span<uint8_t>();
    Shape shape;
    uint8_t* pixels = nullptr;
    decode_picture(file, [&](int64_t height, int64_t width) {
      shape = {height, width, 3};
      return pixels = grey_ ? context.scratch<uint8_t>(shape.element_count()).data()
                            : context.output(0, shape).mutable_data<uint8_t>();
    });
    int64_t count = shape[0] * shape[1];
    if (grey_) {
      uint8_t* to = context.output(0, Shape{shape[0], shape[1], 1}).mutable_data<uint8_t>();
      base::polled_loop(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = grey(pixels + 3 * i);
      });
    } else if (blue_first_) {
      base::polled_loop(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
      });
    }
  }

 private:
  bool grey_, blue_first_;
};

constexpr KernelRow kRows[] = {{"", "ImageDecoder", 20, kLatest, make_kernel<ImageDecoder>}};

}  // namespace

extern const KernelTable image_decoder_rows;
constinit const KernelTable image_decoder_rows(kRows);

}  // namespace ortolan::cpu::onnx
