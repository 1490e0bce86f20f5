// One launch of a kernel on the test device.
#pragma once

#include "gpu/device/device.h"
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu::test {

struct ReadyLaunch;

/** What a launch on the test device runs. */
class Runnable : public Kernel {
 public:
  virtual const std::string& name() const = 0;
  using Constants = std::map<std::string, int, std::less<>>;
  virtual const Constants& constants() const = 0;
  virtual bool writes(size_t binding) const = 0;
  /** Throws where a launch does not fit: number of buffers, their alignment, the parameters, the group. */
  virtual void check(const Launch& launch, const DeviceTraits& traits) const = 0;
  /** Runs all groups. */
  virtual void run(const ReadyLaunch& ready, unsigned order) const = 0;
};

inline const Runnable& runnable_of(const Launch& launch) { return static_cast<const Runnable&>(*launch.kernel); }

/** A launch with its memory, as it will run. */
struct ReadyLaunch {
  const Launch* launch;
  std::vector<Argument> arguments;
};

/** Throws where an argument that is written overlaps another of the same launch, or one of `beside`, which no barrier
 *  keeps apart. */
void check_overlaps(const ReadyLaunch& ready, std::span<const ReadyLaunch> beside);

/** A kernel's text. */
class TestKernel : public Runnable {
 public:
  /** Throws where the text has no such kernel or constant. */
  TestKernel(const KernelSpec& spec, int vector_width, std::span<const std::byte> binary);
  std::vector<std::byte> binary() const override;
  bool was_compiled() const override { return was_compiled_; }

  const std::string& name() const override { return name_; }
  const Constants& constants() const override { return constants_; }
  bool writes(size_t binding) const override { return description_->buffers[binding].access != Access::kRead; }
  void check(const Launch& launch, const DeviceTraits& traits) const override;
  void run(const ReadyLaunch& ready, unsigned order) const override;

 private:
  /** 0 for an axis the spec does not name. */
  int group_size(int axis) const;
  /** Where they are folded, those before. */
  std::array<uint32_t, 3> meant_groups(const Launch& launch) const;
  LaunchFrame frame_of(const ReadyLaunch& ready, unsigned order) const;

  std::string name_;
  const KernelDescription* description_;
  Constants constants_;
  bool was_compiled_;
};

}  // namespace ortolan::gpu::test
