// The test library's products, which check all that they touch.
#include "gpu/testdevice/test_library.h"

#include <cstring>

#include "gpu/device/half_float.h"
#include "gpu/testdevice/launch.h"

namespace ortolan::gpu::test {
namespace {

const std::string kName = "test library";

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::kInternal, "test device: product of the library: " + what);
}

/** The elements of an argument. */
class Elements {
 public:
  Elements(const Argument& argument, bool is_half) : argument_(argument), is_half_(is_half) {}
  float get(int64_t i) const {
    const std::byte* at = place(i);
    if (is_half_) return from_half(read<uint16_t>(at));
    return read<float>(at);
  }
  void set(int64_t i, float value) const {
    uint16_t half = to_half(value);
    std::memcpy(place(i), is_half_ ? static_cast<const void*>(&half) : &value, bytes());
  }

 private:
  size_t bytes() const { return is_half_ ? 2 : 4; }
  template <class T>
  static T read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::byte* place(int64_t i) const {
    if (i < 0 || static_cast<size_t>(i + 1) * bytes() > argument_.bytes) {
      fail("element " + std::to_string(i) + " is outside of " + std::to_string(argument_.bytes) + " bytes");
    }
    return argument_.data + static_cast<size_t>(i) * bytes();
  }

  const Argument& argument_;
  bool is_half_;
};

int64_t place_of(const LibraryProduct::Matrix& matrix, int64_t number, int64_t row, int64_t column) {
  if (matrix.turned) std::swap(row, column);
  return matrix.first + number * matrix.stack + row * matrix.row + column;
}

class TestProduct : public Runnable {
 public:
  TestProduct(const LibraryProduct& product, std::atomic<int64_t>& products_to_failure)
      : product_(product), products_to_failure_(products_to_failure) {}
  const std::string& name() const override { return kName; }
  const Constants& constants() const override { return constants_; }
  bool writes(size_t binding) const override { return binding == 2; }
  void check(const Launch& launch, const DeviceTraits&) const override {
    bool is_one_group = launch.groups == std::array<uint32_t, 3>{1, 1, 1};
    if (launch.bindings.size() != 3 || !launch.params.empty() || !is_one_group) fail("it has three buffers, no more");
  }
  void run(const ReadyLaunch& ready, unsigned) const override;

 private:
  LibraryProduct product_;
  std::atomic<int64_t>& products_to_failure_;
  Constants constants_;
};

void TestProduct::run(const ReadyLaunch& ready, unsigned) const {
  if (products_to_failure_ >= 0 && products_to_failure_-- == 0) fail("it fails as told");
  const LibraryProduct& p = product_;
  Elements a(ready.arguments[0], p.is_half), b(ready.arguments[1], p.is_half), c(ready.arguments[2], p.is_half);
  for (int64_t z = 0; z < p.count; z++) {
    for (int64_t i = 0; i < p.m; i++) {
      for (int64_t j = 0; j < p.n; j++) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; k++) sum += a.get(place_of(p.a, z, i, k)) * b.get(place_of(p.b, z, k, j));
        int64_t to = place_of(p.c, z, i, j);
        c.set(to, static_cast<float>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c.get(to))));
      }
    }
  }
}

}  // namespace

const std::string& TestLibrary::name() const { return kName; }

std::shared_ptr<const Kernel> TestLibrary::load(const LibraryProduct& product) {
  return std::make_shared<TestProduct>(product, products_to_failure_);
}

}  // namespace ortolan::gpu::test
