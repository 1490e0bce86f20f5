// One launch of a kernel on the test device.
#pragma once

#include "gpu/device/device.h"
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu::test {

class TestKernel : public Kernel {
 public:
  /** Throws where the text has no such kernel or constant. */
  TestKernel(const KernelSpec& spec, int vector_width, std::span<const std::byte> binary);
  std::vector<std::byte> binary() const override;
  bool was_compiled() const override { return was_compiled_; }

  const KernelDescription& description() const { return *description_; }
  const std::string& name() const { return name_; }
  const std::map<std::string, int, std::less<>>& constants() const { return constants_; }
  /** 0 for an axis the spec does not name. */
  int group_size(int axis) const;

 private:
  std::string name_;
  const KernelDescription* description_;
  std::map<std::string, int, std::less<>> constants_;
  bool was_compiled_;
};

/** Throws where a launch does not fit its kernel: number of buffers, their alignment, the parameters, the group. */
void check_launch(const Launch& launch, const DeviceTraits& traits);

/** A launch with its memory, as it will run. */
struct ReadyLaunch {
  const Launch* launch;
  std::vector<Argument> arguments;
};

/** Throws where an argument that is written overlaps another of the same launch, or one of `beside`, which no barrier
 *  keeps apart. */
void check_overlaps(const ReadyLaunch& ready, std::span<const ReadyLaunch> beside);

/** Runs all groups. */
void run_launch(const ReadyLaunch& ready, unsigned order);

}  // namespace ortolan::gpu::test
