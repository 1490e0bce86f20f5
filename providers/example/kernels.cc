// Kernels that a runtime calls node by node: Mul and Add on the device, and copies between it and the host.
#include "kernels.h"

#include <cstring>

#include "data_transfer.h"
#include "profiler.h"
#include "provider.h"
#include "tensor.h"

namespace ortolan::example {
namespace {

/** What all kernels of this library share. `Derived` has run(OrtKernelContext*). */
template <class Derived>
class Kernel : public OrtKernelImpl, private Counted<Live::kKernel> {
 protected:
  Kernel(Provider& provider, std::string name)
      : OrtKernelImpl{}, host_(provider.host()), device_(provider.device()), name_(std::move(name)) {
    ort_version_supported = host_.level;
    Compute = compute;
    Release = release;
  }

  const Host host_;
  Device& device_;

 private:
  static OrtStatus* ORT_API_CALL compute(OrtKernelImpl* self, OrtKernelContext* context) noexcept {
    auto& kernel = *static_cast<Derived*>(self);
    return guard(kernel.host_, [&] {
      Measured measured(static_cast<Kernel&>(kernel).name_);
      kernel.run(context);
    });
  }
  static void ORT_API_CALL release(OrtKernelImpl* self) noexcept { delete static_cast<Derived*>(self); }

  const std::string name_;  // of the operation, for profiles
};

class CopyKernel : public Kernel<CopyKernel> {
 public:
  explicit CopyKernel(Provider& provider) : Kernel(provider, "copy") {}

  void run(OrtKernelContext* context) {
    const OrtValue* input = nullptr;
    OrtValue* output = nullptr;
    check(host_, host_.api->KernelContext_GetInput(context, 0, &input));
    Shape shape = tensor_of(host_, input).shape;
    check(host_, host_.api->KernelContext_GetOutput(context, 0, shape.data(), shape.size(), &output));
    copy_tensor(host_, device_, input, output, queue_of(host_, device_, context));
  }
};

class BinaryKernel : public Kernel<BinaryKernel> {
 public:
  BinaryKernel(Provider& provider, Operation operation)
      : Kernel(provider, operation == Operation::kMul ? "Mul" : "Add"), operation_(operation) {
    if (provider.options().prepack) PrePackWeight = prepack;
  }

  void run(OrtKernelContext* context) {
    note(Event::kCompute);
    Queue* queue = queue_of(host_, device_, context);
    Tensor left = operand(context, queue, 0), right = operand(context, queue, 1);
    Shape shape = broadcast(left.shape, right.shape);
    example::compute(device_, queue, operation_, left, right, output_of(host_, context, 0, shape));
  }

 private:
  Tensor operand(OrtKernelContext* context, Queue* queue, size_t index) {
    if (packed_[index].owner) return packed_[index];
    return on_device(device_, queue, input_of(host_, context, index));
  }

  /** A constant input, on the device: keeps a copy in a block of its own, as a real kernel would in its own layout. */
  static OrtStatus* ORT_API_CALL prepack(OrtKernelImpl* self, const OrtValue* weight, int index, OrtAllocator*,
                                         OrtSharedPrePackedWeightCache*, bool* is_packed) noexcept {
    auto& kernel = *static_cast<BinaryKernel*>(self);
    return guard(kernel.host_, [&] {
      *is_packed = false;
      if (index < 0 || index > 1) return;
      Tensor source = tensor_of(kernel.host_, weight);
      if (source.bytes == 0) return;
      Tensor copy = on_device(kernel.device_, nullptr, source);
      if (!copy.owner) {
        copy = new_tensor(kernel.device_, source.shape);
        kernel.device_.finish();
        std::memcpy(kernel.device_.memory(copy.address, copy.bytes),
                    kernel.device_.memory(source.address, source.bytes), source.bytes);
      }
      kernel.packed_[index] = copy;
      *is_packed = true;
      note(Event::kPrePack);
    });
  }

  const Operation operation_;
  Tensor packed_[2];
};

/** The registry is the provider's own, and so is the state of its rows: the provider. */
template <class Made, auto... kArguments>
OrtStatus* ORT_API_CALL make(void* state, const OrtKernelInfo*, OrtKernelImpl** kernel) noexcept {
  auto& provider = *static_cast<Provider*>(state);
  return guard(provider.host(), [&] { *kernel = new Made(provider, kArguments...); });
}

constexpr KernelRow kCopyRows[] = {
    {"MemcpyFromHost", 1, 1, OrtMemTypeCPUInput, OrtMemTypeDefault, nullptr, make<CopyKernel>},
    {"MemcpyToHost", 1, 1, OrtMemTypeDefault, OrtMemTypeCPUOutput, nullptr, make<CopyKernel>},
};

constexpr KernelRow kComputeRows[] = {
    {"Mul", 7, 14, OrtMemTypeDefault, OrtMemTypeDefault, "T", make<BinaryKernel, Operation::kMul>},
    {"Add", 7, 14, OrtMemTypeDefault, OrtMemTypeDefault, "T", make<BinaryKernel, Operation::kAdd>},
};

}  // namespace

void add_copy_kernels(KernelRegistry& registry, Provider& provider) {
  for (const KernelRow& row : kCopyRows) registry.add(row, provider.name(), &provider);
}

void add_compute_kernels(KernelRegistry& registry, Provider& provider) {
  for (const KernelRow& row : kComputeRows) registry.add(row, provider.name(), &provider);
}

}  // namespace ortolan::example
