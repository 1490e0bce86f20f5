// Calls about bindings of inputs and outputs.
#include "calls.h"

namespace ortolan::fuzz {
namespace {

void create_binding(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  OrtIoBinding* binding = nullptr;
  if (session && ok(api().CreateIoBinding(session.get(), &binding))) {
    h.bindings.add(held(binding, api().ReleaseIoBinding, {session}));
  }
}

void bind(Handles& h) {
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  Held<OrtValue> value = h.values.pick(h.choices);
  if (!binding || !value) return;
  auto call = h.choices.once_in(2) ? api().BindOutput : api().BindInput;
  ok(call(binding.get(), h.text(), value.get()));
}

void bind_to_device(Handles& h) {
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  Held<OrtMemoryInfo> info = h.memory_infos.pick(h.choices);
  if (binding && info) ok(api().BindOutputToDevice(binding.get(), h.text(), info.get()));
}

void clear(Handles& h) {
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  if (!binding) return;
  h.choices.once_in(2) ? api().ClearBoundOutputs(binding.get()) : api().ClearBoundInputs(binding.get());
}

void run(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  Held<OrtRunOptions> options = h.run_options.pick(h.choices);
  if (!session || !binding) return;
  ok(api().SynchronizeBoundInputs(binding.get()));
  ok(api().RunWithBinding(session.get(), options.get(), binding.get()));
  ok(api().SynchronizeBoundOutputs(binding.get()));
}

void read_values(Handles& h) {
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  OrtValue** values = nullptr;
  size_t count = 0;
  if (!binding || !ok(api().GetBoundOutputValues(binding.get(), h.default_allocator(), &values, &count))) return;
  for (size_t i = 0; i < count; ++i) h.add_value(values[i]);
  if (values != nullptr) ok(api().AllocatorFree(h.default_allocator(), values));
}

void read_names(Handles& h) {
  Held<OrtIoBinding> binding = h.bindings.pick(h.choices);
  char* names = nullptr;
  size_t *lengths = nullptr, count = 0, total = 0;
  if (!binding || !ok(api().GetBoundOutputNames(binding.get(), h.default_allocator(), &names, &lengths, &count)))
    return;
  for (size_t i = 0; i < count; ++i) total += lengths[i];
  volatile char last = total > 0 ? names[total - 1] : '\0';
  (void)last;
  h.free(names);
  if (lengths != nullptr) ok(api().AllocatorFree(h.default_allocator(), lengths));
}

void drop(Handles& h) { h.bindings.drop(h.choices); }

constexpr Call kCalls[] = {create_binding, bind, bind, bind, bind_to_device, clear, run, read_values, read_names, drop};

}  // namespace

std::span<const Call> binding_calls() { return kCalls; }

}  // namespace ortolan::fuzz
