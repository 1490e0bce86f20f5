// Calls about the options of sessions and runs.
#include "calls.h"

namespace ortolan::fuzz {
namespace {

struct Entry {
  const char *key, *value;
};
constexpr Entry kSessionEntries[] = {{"session.disable_prepacking", "1"},
                                     {"session.use_env_allocators", "1"},
                                     {"session.set_denormal_as_zero", "1"},
                                     {"session.intra_op.allow_spinning", "0"},
                                     {"session.use_device_allocator_for_initializers", "1"},
                                     {"session.disable_cpu_ep_fallback", "1"},
                                     {"session.record_ep_graph_assignment_info", "1"},
                                     {"ortolan.max_tensor_bytes", "64"},
                                     {"ortolan.max_run_bytes", "256"},
                                     {"ortolan.max_nodes", "2"},
                                     {"ortolan.cpu.fp32_precision", "exact"}};
constexpr Entry kRunEntries[] = {{"memory.enable_memory_arena_shrinkage", "cpu:0"},
                                 {"disable_synchronize_execution_providers", "1"},
                                 {"ep.dynamic.workload_type", "Efficient"}};

void create_options(Handles& h) {
  OrtSessionOptions* options = limited_options(h.choices.once_in(2) ? ORT_DISABLE_ALL : ORT_ENABLE_ALL);
  h.options.add(held(options, api().ReleaseSessionOptions));
}

void clone_options(Handles& h) {
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  OrtSessionOptions* copy = nullptr;
  if (options && ok(api().CloneSessionOptions(options.get(), &copy))) {
    h.options.add(held(copy, api().ReleaseSessionOptions));
  }
}

void set_number(Handles& h) {
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  if (!options) return;
  int number = static_cast<int>(h.choices.below(5)) - 1;
  switch (h.choices.below(5)) {
    case 0:
      ok(api().SetIntraOpNumThreads(options.get(), number));
      break;
    case 1:
      ok(api().SetInterOpNumThreads(options.get(), number));
      break;
    case 2:
      ok(api().SetSessionExecutionMode(options.get(), static_cast<ExecutionMode>(number)));
      break;
    case 3:
      ok(api().SetSessionGraphOptimizationLevel(options.get(), static_cast<GraphOptimizationLevel>(number)));
      break;
    default:
      ok(api().SetSessionLogSeverityLevel(options.get(), number));
  }
}

void set_switch(Handles& h) {
  using Switch = decltype(OrtApi::EnableMemPattern);
  const Switch switches[] = {api().EnableMemPattern, api().DisableMemPattern, api().EnableCpuMemArena,
                             api().DisableCpuMemArena, api().DisablePerSessionThreads};
  if (Held<OrtSessionOptions> options = h.options.pick(h.choices)) ok(h.choices.one_of(switches)(options.get()));
}

void set_entry(Handles& h) {
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  if (!options) return;
  const Entry& entry = h.choices.one_of(kSessionEntries);
  ok(api().AddSessionConfigEntry(options.get(), entry.key, h.choices.once_in(4) ? h.text() : entry.value));
  size_t size = h.choices.below(40);
  std::vector<char> value(size);
  int there = 0;
  ok(api().HasSessionConfigEntry(options.get(), entry.key, &there));
  ok(api().GetSessionConfigEntry(options.get(), entry.key, value.data(), &size));
}

void set_dimension(Handles& h) {
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  auto dims = h.dims();
  if (!options || dims.empty()) return;
  ok(h.choices.once_in(2) ? api().AddFreeDimensionOverride(options.get(), h.text(), dims[0])
                          : api().AddFreeDimensionOverrideByName(options.get(), h.text(), dims[0]));
}

void add_initializer(Handles& h) {
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  Held<OrtValue> value = h.values.pick(h.choices);
  if (!options || !value) return;
  h.initializers.push_back(value);
  const char* name = h.text();
  const OrtValue* values[] = {value.get()};
  ok(h.choices.once_in(3) ? api().AddExternalInitializers(options.get(), &name, values, 1)
                          : api().AddInitializer(options.get(), name, value.get()));
}

void create_run_options(Handles& h) {
  OrtRunOptions* options = nullptr;
  if (ok(api().CreateRunOptions(&options))) h.run_options.add(held(options, api().ReleaseRunOptions));
}

void set_run_option(Handles& h) {
  Held<OrtRunOptions> options = h.run_options.pick(h.choices);
  if (!options) return;
  const char* tag = nullptr;
  const Entry& entry = h.choices.one_of(kRunEntries);
  switch (h.choices.below(5)) {
    case 0:
      ok(api().RunOptionsSetTerminate(options.get()));
      break;
    case 1:
      ok(api().RunOptionsUnsetTerminate(options.get()));
      break;
    case 2:
      ok(api().RunOptionsSetRunTag(options.get(), h.text()));
      ok(api().RunOptionsGetRunTag(options.get(), &tag));
      break;
    case 3:
      ok(api().RunOptionsSetRunLogSeverityLevel(options.get(), h.choices.byte() - 2));
      break;
    default:
      ok(api().AddRunConfigEntry(options.get(), entry.key, h.choices.once_in(4) ? h.text() : entry.value));
  }
}

void drop(Handles& h) {
  if (h.choices.once_in(2)) return h.options.drop(h.choices);
  h.run_options.drop(h.choices);
}

constexpr Call kCalls[] = {create_options, clone_options,   set_number,         set_switch,     set_entry,
                           set_dimension,  add_initializer, create_run_options, set_run_option, drop};

}  // namespace

std::span<const Call> option_calls() { return kCalls; }

}  // namespace ortolan::fuzz
