// Which decoder a file goes to, and the way to the module that knows most formats.
#include "cpu/pictures/image_decoding.h"

#include <exception>

#include "cpu/images/images.h"
#include "cpu/modules/open_module.h"

namespace ortolan::cpu {
namespace {

constexpr const char* kModule = "libortolan_images.so";

/** The module's function, NULL where there is none. It stays open. */
OrtolanDecodeImage* module_function() {
  static auto* const function = reinterpret_cast<OrtolanDecodeImage*>(find_in_module(kModule, "ortolan_decode_image"));
  return function;
}

struct Target {
  PixelMemory memory;
  std::exception_ptr error;
};

uint8_t* give_pixels(void* context, uint64_t height, uint64_t width) {
  auto& target = *static_cast<Target*>(context);
  try {
    return target.memory(static_cast<int64_t>(height), static_cast<int64_t>(width));
  } catch (...) {
    target.error = std::current_exception();
    return nullptr;
  }
}

}  // namespace

void check_picture_size(int64_t height, int64_t width) {
  require(height > 0 && width > 0, ErrorCode::kInvalidArgument, "the picture has ", height, " x ", width,
          " pixels; both must be positive");
  require(width <= kMostPixels / height, ErrorCode::kInvalidArgument, "the picture has ", height, " x ", width,
          " pixels; the limit is ", kMostPixels);
}

void decode_by_module(std::span<const uint8_t> file, PixelMemory memory) {
  OrtolanDecodeImage* decode = module_function();
  require(decode != nullptr, ErrorCode::kNotImplemented, "install the package libortolan-images: its module ", kModule,
          " decodes pictures other than BMP and PNM");
  Target target{memory, nullptr};
  OrtolanImageSink sink{&target, static_cast<uint64_t>(kMostPixels), give_pixels};
  char error[256] = {};
  if (decode(file.data(), file.size(), &sink, error, sizeof error) == 0) return;
  if (target.error) std::rethrow_exception(target.error);
  fail(ErrorCode::kInvalidArgument, "the picture cannot be decoded: ", static_cast<const char*>(error));
}

void decode_picture(std::span<const uint8_t> file, PixelMemory memory) {
  require(file.size() >= 2, ErrorCode::kInvalidArgument, "a file of ", file.size(), " bytes holds no picture");
  if (file[0] == 'B' && file[1] == 'M') return decode_bmp(file, memory);
  if (file[0] == 'P' && file[1] >= '1' && file[1] <= '7') return decode_pnm(file, memory);
  decode_by_module(file, memory);
}

}  // namespace ortolan::cpu
