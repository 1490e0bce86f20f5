// Products by CLBlast, where its library is installed: it is looked for when it is first wanted, at run time.
#pragma once

#include <array>
#include <mutex>
#include <optional>

#include "opencl/context.h"

namespace ortolan::gpu::opencl {

/** Whether CLBlast's database of tuning has GPUs of the device's vendor; it finds them by the vendor's exact name, and
 * takes values that were not tuned for anything like the device where it finds none. */
bool is_tuned_by_clblast(const DeviceTraits& traits);

/** Whether a product is one of floats that is large enough to be CLBlast's, which packs operands before it multiplies.
 */
bool is_large_for_clblast(const LibraryProduct& product);

struct ClblastFunctions;

/** A product as it is queued. */
class ClblastProduct : public Kernel {
 public:
  ClblastProduct(const ClblastFunctions& functions, const std::string& library, const LibraryProduct& product)
      : functions_(functions), library_(library), product_(product) {}
  bool was_compiled() const override { return false; }

  const std::string& name() const { return library_; }
  /** Gives CLBlast's code, which is OpenCL's or one of its own. */
  cl_int enqueue(cl_command_queue queue, const std::array<cl_mem, 3>& matrices) const;

 private:
  const ClblastFunctions& functions_;
  const std::string& library_;
  LibraryProduct product_;
};

class Clblast : public ProductLibrary {
 public:
  /** NULL where there is no such library. It stays loaded, and keeps what it compiles for a context to the end of the
   * process. */
  static std::unique_ptr<Clblast> open(std::shared_ptr<Context> context, const char* file = "libclblast.so.1");

  const std::string& name() const override { return name_; }
  bool suits(const LibraryProduct& product) const override {
    return is_tuned_by_clblast(context_->traits()) && is_large_for_clblast(product);
  }
  /** NULL also for 16-bit floats, whose sums would have 16 bits, and where the driver does not compile it. */
  std::shared_ptr<const Kernel> load(const LibraryProduct& product) override;

 private:
  Clblast(std::shared_ptr<Context> context, std::shared_ptr<const ClblastFunctions> functions, std::string name)
      : context_(std::move(context)), functions_(std::move(functions)), name_(std::move(name)) {}
  bool compiles(bool is_stack);
  bool try_out(bool is_stack) const;

  std::shared_ptr<Context> context_;
  std::shared_ptr<const ClblastFunctions> functions_;
  const std::string name_;
  std::mutex mutex_;
  std::array<std::optional<bool>, 2> compiles_;  // single products, stacks
};

}  // namespace ortolan::gpu::opencl
