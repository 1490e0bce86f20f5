// OrtKernelContext: a custom operator's inputs, outputs and services in one run; and the logger objects.
#include "runtime/kernels/kernel.h"

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/operators/kernel_info.h"
#include "api/plugins/ep_registry.h"
#include "api/plugins/ep_stream.h"
#include "base/threads/thread_pool.h"
#include "runtime/execution/frame.h"
#include "runtime/providers/devices.h"

namespace ortolan::api {
namespace {

runtime::KernelContext& context_of(const OrtKernelContext* context) {
  return const_cast<runtime::KernelContext&>(unwrap(context, "context"));
}

/** The allocator of the run for that memory; throws when there is none. */
std::shared_ptr<Allocator> allocator_for(const runtime::KernelContext& context, const MemoryInfo& memory) {
  const runtime::RunServices& services = context.services();
  if (memory.device == Device{}) return services.allocator;
  auto found = services.devices == nullptr ? nullptr : services.devices->find_allocator(place_of(memory));
  require(found != nullptr, ErrorCode::kInvalidArgument, "there is no allocator for memory '", memory.name,
          "' on device ", memory.device.id);
  return found;
}

/** Memory on a device until the run is over. */
void* device_scratch(runtime::KernelContext& context, const MemoryInfo& memory, size_t bytes) {
  auto allocator = allocator_for(context, memory);
  runtime::RunStreams* streams = context.services().streams;
  require(streams != nullptr, ErrorCode::kInvalidArgument, "scratch memory on a device is there in runs only");
  Stream* stream = context.stream();
  void* block = stream == nullptr ? allocator->allocate(bytes) : allocator->allocate_on(*stream, bytes);
  streams->keep({block, [allocator](void* data) { allocator->free(data); }});
  return block;
}

/** The queue of the node's provider as plugins see it; NULL when it has none. */
PluginStream* stream_of(const OrtKernelContext* context) {
  return dynamic_cast<PluginStream*>(context_of(context).stream());
}

/** Output 0 of a kernel that declared it an alias of input 0 is that input's memory; any other is new. */
void make_output(runtime::KernelContext& context, size_t index, const Shape& shape) {
  auto* step = dynamic_cast<const runtime::StepContext*>(&context);
  bool is_view = index == 0 && step != nullptr && step->step().reuse == runtime::Reuse::kView;
  const Tensor* input = is_view ? context.input_if(0) : nullptr;
  if (input == nullptr || input->element_count() != shape.element_count()) {
    context.output(index, shape);
  } else {
    context.set_output(0, input->reshaped(shape));
  }
}

/** Calls the caller's function for each index of [0, total), in `batches` runs of neighbours (0: one each). */
void parallel_calls(base::ThreadPool& threads, void (*call)(void*, size_t), size_t total, size_t batches, void* data) {
  size_t grain = batches == 0 ? 1 : (total + batches - 1) / batches;
  threads.parallel_for(checked_cast<int64_t>(total), static_cast<int64_t>(grain), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) call(data, static_cast<size_t>(i));
  });
}

}  // namespace

OrtStatus* ORT_API_CALL KernelContext_GetInputCount(const OrtKernelContext* context, size_t* out) noexcept {
  return guard([&] { put(out, context_of(context).input_count()); });
}

OrtStatus* ORT_API_CALL KernelContext_GetOutputCount(const OrtKernelContext* context, size_t* out) noexcept {
  return guard([&] { put(out, context_of(context).output_count()); });
}

OrtStatus* ORT_API_CALL KernelContext_GetInput(const OrtKernelContext* context, size_t index,
                                               const OrtValue** out) noexcept {
  return guard([&] {
    const auto& core = context_of(context);
    require(index < core.input_count(), ErrorCode::kFail, "index ", index, " is out of range; the node has ",
            core.input_count(), " inputs");
    put(out, core.has_input(index) ? wrap<const OrtValue>(&core.input_value(index)) : nullptr);
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetOutput(OrtKernelContext* context, size_t index, const int64_t* dim_values,
                                                size_t dim_count, OrtValue** out) noexcept {
  return guard([&] {
    auto& core = context_of(context);
    require(index < core.output_count(), ErrorCode::kFail, "index ", index, " is out of range; the node has ",
            core.output_count(), " outputs");
    auto dims = array(dim_values, dim_count, "dim_values");
    require_argument(out, "out");
    *out = nullptr;
    if (!core.has_output(index)) return;
    make_output(core, index, Shape(dims.begin(), dims.end()));
    *out = wrap<OrtValue>(&core.output_value(index));
  });
}

// Outputs are made when the kernel asks for them; none is there before.
OrtStatus* ORT_API_CALL KernelContext_GetPreallocatedOutput(const OrtKernelContext* context, size_t output_index,
                                                            OrtValue** output) noexcept {
  return guard([&] {
    size_t count = context_of(context).output_count();
    require(output_index < count, ErrorCode::kFail, "index ", output_index, " is out of range; the node has ", count,
            " outputs");
    put(output, nullptr, "output");
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetAllocator(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                                   OrtAllocator** out) noexcept {
  return guard([&] {
    const auto& core = context_of(context);
    const MemoryInfo& memory = unwrap(mem_info, "mem_info");
    auto allocator = allocator_for(core, memory);
    require_argument(out, "out");
    *out = new_api_allocator(std::move(allocator));
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetScratchBuffer(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                                       size_t count_or_bytes, void** out) noexcept {
  return guard([&] {
    const MemoryInfo& memory = unwrap(mem_info, "mem_info");
    auto& core = context_of(context);
    require_argument(out, "out");
    *out = memory.device == Device{} ? core.scratch<char>(checked_cast<int64_t>(count_or_bytes)).data()
                                     : device_scratch(core, memory, count_or_bytes);
  });
}

OrtStatus* ORT_API_CALL KernelContext_ParallelFor(const OrtKernelContext* context, void (*fn)(void*, size_t),
                                                  size_t total, size_t num_batch, void* usr_data) noexcept {
  return guard([&] {
    require(fn != nullptr, ErrorCode::kInvalidArgument, "argument 'fn' must not be NULL");
    parallel_calls(context_of(context).threads(), fn, total, num_batch, usr_data);
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetLogger(const OrtKernelContext* context, const OrtLogger** logger) noexcept {
  return guard([&] {
    const base::Logger* core = context_of(context).services().logger;
    put(logger, wrap<const OrtLogger>(core != nullptr ? core : &fallback_logger()), "logger");
  });
}

// Both are NULL for nodes of the CPU.
OrtStatus* ORT_API_CALL KernelContext_GetGPUComputeStream(const OrtKernelContext* context, void** out) noexcept {
  return guard([&] {
    PluginStream* stream = stream_of(context);
    put(out, stream == nullptr ? nullptr : stream->native_handle());
  });
}
OrtStatus* ORT_API_CALL KernelContext_GetSyncStream(const OrtKernelContext* context, OrtSyncStream** out) noexcept {
  return guard([&] { put(out, wrap<OrtSyncStream>(stream_of(context))); });
}
OrtStatus* ORT_API_CALL KernelContext_GetResource(const OrtKernelContext* context, int, int, void** resource) noexcept {
  return guard([&] {
    context_of(context);
    put(resource, nullptr, "resource");
  });
}

OrtStatus* ORT_API_CALL Logger_LogMessage(const OrtLogger* logger, OrtLoggingLevel level, const char* message,
                                          const char* file_path, int line_number, const char* func_name) noexcept {
  return guard([&] {
    const base::Logger& core = unwrap(logger, "logger");
    std::string_view path = text(file_path, "file_path");
    std::string where =
        join(path.substr(path.find_last_of('/') + 1), ':', line_number, ' ', text(func_name, "func_name"));
    core.log(severity_from_api(level), where, text(message, "message"));
  });
}

OrtStatus* ORT_API_CALL Logger_GetLoggingSeverityLevel(const OrtLogger* logger, OrtLoggingLevel* out) noexcept {
  return guard([&] { put(out, unwrap(logger, "logger").least()); });
}

}  // namespace ortolan::api
