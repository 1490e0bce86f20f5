// A library of products for the test device, which computes in plain loops and fails where it is told to.
#pragma once

#include <atomic>

#include "gpu/device/device.h"

namespace ortolan::gpu::test {

class TestLibrary : public ProductLibrary {
 public:
  /** Products run until the count, which goes down, is 0. It suits those of so many multiplications
   * that are added to nothing. */
  TestLibrary(std::atomic<int64_t>& products_to_failure, int64_t suits_from)
      : products_to_failure_(products_to_failure), suits_from_(suits_from) {}
  const std::string& name() const override;
  bool suits(const LibraryProduct& p) const override { return p.beta == 0 && p.m * p.n * p.k * p.count >= suits_from_; }
  std::shared_ptr<const Kernel> load(const LibraryProduct& product) override;

 private:
  std::atomic<int64_t>& products_to_failure_;
  const int64_t suits_from_;
};

}  // namespace ortolan::gpu::test
