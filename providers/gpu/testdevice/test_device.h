// A device that runs the kernel texts as C++ on the CPU, checks all they do, and fails where it is told to.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "gpu/device/device.h"

namespace ortolan::gpu::test {

/** What a test device does wrong, and how. May change at any time. Counts go down to the fault; negative is never. */
struct Faults {
  std::atomic<int64_t> allocations_to_failure{-1};  // that many allocations succeed, then one fails
  std::atomic<int64_t> launches_to_loss{-1};        // that many launches run, then the device is lost for good
  std::atomic<int64_t> kernels_to_failure{-1};      // that many kernels load, then one does not compile
  std::atomic<int64_t> products_to_failure{-1};     // that many of the library's products run, then one fails
};

/** What a test device has done so far. */
struct Work {
  std::atomic<int64_t> bytes_written{0}, bytes_read{0};   // from and to the host
  std::atomic<int64_t> bytes_copied{0};                   // on the device, other than by kernels
  std::atomic<int64_t> lists{0}, launches{0}, groups{0};  // a library's products are launches
};

struct TestDeviceOptions {
  DeviceClass kind = DeviceClass::kGpu;
  int vector_width = 4;  // 1, 4 or 16
  int vector_registers = DeviceTraits{}.vector_registers;
  unsigned order = 0;  // of items and groups: 0 forward, 1 backward, else the seed of a shuffle
  bool has_half_arithmetic = true;
  MatrixUnits matrix_units = {};
  size_t memory_bytes = size_t{1} << 32;
  size_t max_buffer_bytes = size_t{1} << 30;
  size_t max_binding_bytes = SIZE_MAX;
  std::array<uint32_t, 3> max_groups = DeviceTraits{}.max_groups;
  int64_t max_rounds = DeviceTraits{}.max_rounds;
  std::optional<int64_t> library_suits_from = {};  // multiplications; nothing: there is no library for products
};

/** Work waits until somebody waits for it, so that a result that is read too early is wrong every time. Launches
 * without a barrier between them run in an order of their own; one that needs a barrier and has none is an error. Fresh
 * memory holds NaN. A kernel that does what its text must not do is an Error that names the element and the work-item.
 */
class TestDevice : public Device {
 public:
  explicit TestDevice(const TestDeviceOptions& options);
  ~TestDevice() override;

  const DeviceTraits& traits() const override { return traits_; }
  std::string identity(std::string_view kernel) const override { return traits_.name + ": " + std::string(kernel); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  bool imports_memory() const override { return true; }
  /** Of files in memory. */
  std::unique_ptr<Buffer> import_memory(int file, size_t bytes) override;
  bool imports_semaphores() const override { return true; }
  /** A file in memory that begins with the number. */
  std::shared_ptr<Semaphore> import_semaphore(int file) override;
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override;
  ProductLibrary* product_library() override { return library_.get(); }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override;
  std::unique_ptr<Queue> create_queue(bool timed = false) override;

  Faults& faults() { return faults_; }
  /** How long a launch takes, whatever it really took; until it is given, as many nanoseconds as it has groups. */
  using Cost =
      std::function<int64_t(const std::string& kernel, const std::map<std::string, int, std::less<>>& constants,
                            const std::array<uint32_t, 3>& groups)>;
  void set_cost(Cost cost) { cost_ = std::move(cost); }
  /** Kernels made from their texts, and from what the device had given before. */
  int compiled() const { return compiled_; }
  int loaded() const { return loaded_; }
  int64_t launches() const { return work_.launches; }
  const Work& work() const { return work_; }
  size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  friend class TestBuffer;
  friend class TestQueue;
  void fail_if_lost() const;
  LaunchTime charge(const Launch& launch);

  DeviceTraits traits_;
  const unsigned order_;
  Faults faults_;
  std::unique_ptr<ProductLibrary> library_;
  Cost cost_;
  std::atomic<int64_t> clock_{0};  // when the last launch ended
  std::atomic<bool> lost_{false};
  std::atomic<int> compiled_{0}, loaded_{0};
  Work work_;
  std::atomic<size_t> bytes_in_use_{0};
};

}  // namespace ortolan::gpu::test
