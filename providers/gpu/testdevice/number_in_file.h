// A semaphore for tests: the number that a file in memory begins with.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gpu/device/device.h"

namespace ortolan::gpu::test {

class NumberInFile : public Semaphore {
 public:
  /** The descriptor stays the caller's. Throws kInvalid where it is of no such file. */
  explicit NumberInFile(int file) {
    struct stat status;
    const bool is_long_enough = fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof *number_);
    void* start =
        is_long_enough ? mmap(nullptr, sizeof *number_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (start == MAP_FAILED) {
      throw Error(ErrorKind::kInvalid, "descriptor " + std::to_string(file) + " is of no file with a number");
    }
    number_ = static_cast<std::atomic<uint64_t>*>(start);
  }
  ~NumberInFile() override { munmap(number_, sizeof *number_); }
  NumberInFile(const NumberInFile&) = delete;
  NumberInFile& operator=(const NumberInFile&) = delete;

  uint64_t value() const { return *number_; }
  void raise(uint64_t value) { *number_ = value; }
  /** Throws kDeviceLost after ten seconds, as a driver ends work that waits for nothing. */
  void wait_for(uint64_t value) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (*number_ < value) {
      if (std::chrono::steady_clock::now() > end) throw Error(ErrorKind::kDeviceLost, "a semaphore was never raised");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::atomic<uint64_t>* number_ = nullptr;
};

}  // namespace ortolan::gpu::test
