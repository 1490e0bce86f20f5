// What a session does with devices: runs whose inputs and outputs may lie anywhere, and questions about where they do.
#include <algorithm>

#include "runtime/execution/compiled_graph.h"
#include "runtime/providers/device_placement.h"
#include "runtime/providers/devices.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {

const MemoryInfo& cpu_memory() { return cpu_allocator()->info(); }

/** The number under which a run may be recorded and replayed; -1 forbids it. */
int annotation_of(const RunOptions& options) {
  auto found = options.config.find("gpu_graph_id");
  return found == options.config.end() ? 0 : std::atoi(found->second.c_str());
}

/** The inputs of a run, with copies on the CPU of those that lie on a device and are read by nodes on the CPU. */
class Feeds {
 public:
  Feeds(std::span<const Value* const> given, const std::vector<bool>& read_on_cpu, const RunServices& services)
      : values_(given.begin(), given.end()) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor* tensor = values_[i]->tensor_if();
      if (tensor == nullptr || tensor->memory().on_cpu() || !read_on_cpu[i]) continue;
      Tensor copy(tensor->type(), tensor->shape(), services.allocator);
      services.devices->start_copy(*tensor, copy, services.streams);
      copies_.push_back(std::make_unique<Value>(std::move(copy)));
      values_[i] = copies_.back().get();
    }
    if (!copies_.empty() && services.streams != nullptr) services.streams->settle();
  }
  std::span<const Value* const> values() const { return values_; }

 private:
  std::vector<const Value*> values_;
  std::vector<std::unique_ptr<Value>> copies_;
};

/** The outputs of a run: given ones that lie where they are made are written in place, all others brought where they
    are wanted when the run is done. */
class Fetches {
 public:
  Fetches(std::span<Value> wanted, std::span<const MemoryInfo* const> places, std::span<const MemoryInfo* const> made)
      : wanted_(wanted), places_(places), results_(wanted.size()) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Tensor* given = wanted[i].tensor_if();
      if (given != nullptr && same_place(given->memory(), *made[i])) results_[i] = wanted[i];
    }
  }

  std::span<Value> results() { return results_; }

  void deliver(const RunServices& services) {
    for (size_t i = 0; i < wanted_.size(); ++i) bring(i, services);
    if (services.streams != nullptr) services.streams->settle();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].tensor_if() == nullptr) wanted_[i] = std::move(results_[i]);
    }
  }

 private:
  /** Starts the copy that the output needs, if any. */
  void bring(size_t i, const RunServices& services) {
    const Tensor* made = results_[i].tensor_if();
    Tensor* given = wanted_[i].tensor_if();
    if (given != nullptr) {
      if (made == nullptr || made->raw() == given->raw()) return;
      require(made->type() == given->type() && made->shape() == given->shape(), ErrorCode::kInvalidArgument,
              "an output is ", name_of(made->type()), made->shape(), ", but the value given for it is ",
              name_of(given->type()), given->shape());
      return services.devices->start_copy(*made, *given, services.streams);
    }
    const MemoryInfo& place = i < places_.size() && places_[i] != nullptr ? *places_[i] : cpu_memory();
    if (made == nullptr || same_place(made->memory(), place)) return;
    Tensor brought = services.devices->make(place, made->type(), made->shape(), services.streams);
    services.devices->start_copy(*made, brought, services.streams);
    results_[i] = std::move(brought);
  }

  std::span<Value> wanted_;
  std::span<const MemoryInfo* const> places_;
  std::vector<Value> results_;
};

/** A caller's first run goes on until it is recorded, as providers may need some runs before, but not for ever. */
constexpr int kMaxRecordingRuns = 8;

bool wants_recording(std::span<ExecutionProvider* const> recorders, int annotation) {
  return std::ranges::any_of(recorders, [&](const auto* provider) { return !provider->graph_captured(annotation); });
}

/** A recorded run reads and writes memory of its device: what the caller gives must all be there. */
bool all_there(std::span<const Value* const> inputs, std::span<const Value> outputs, const MemoryInfo& memory) {
  auto is_there = [&](const Value& value) {
    const Tensor* tensor = value.tensor_if();
    return tensor != nullptr && same_place(tensor->memory(), memory);
  };
  return std::ranges::all_of(inputs, [&](const Value* value) { return is_there(*value); }) &&
         std::ranges::all_of(outputs, is_there);
}

}  // namespace

void Session::run_on_devices(const RunOptions& options, RunServices& services, std::span<const Value* const> feeds,
                             std::span<const int> wanted, std::span<Value> outputs,
                             std::span<const MemoryInfo* const> places, Profiler* profiler) const {
  int annotation = annotation_of(options);
  std::vector<const MemoryInfo*> made;
  for (int output : wanted) made.push_back(&output_memory(static_cast<size_t>(output)));
  for (int run = 0; run < kMaxRecordingRuns; ++run) {
    DeviceRun device_run(*devices_, options, services);
    Feeds inputs(feeds, feeds_cpu_, services);
    Fetches fetches(outputs, places, made);
    ExecutionProvider* replaying = annotation >= 0 ? replaying_provider(annotation) : nullptr;
    if (replaying != nullptr && all_there(feeds, outputs, replaying->memory())) {
      replaying->replay_graph(annotation);
    } else {
      compiled_->run(services, inputs.values(), wanted, fetches.results(), profiler);
      fetches.deliver(services);
    }
    device_run.finish();
    if (annotation < 0 || !wants_recording(recorders_, annotation)) return;
  }
}

/** The provider that has recorded a run under that number; NULL if none. */
ExecutionProvider* Session::replaying_provider(int annotation) const {
  auto found = std::ranges::find_if(recorders_, [&](auto* provider) { return provider->graph_captured(annotation); });
  return found == recorders_.end() ? nullptr : *found;
}

/** Input i as a value of the graph; NULL where the graph has fewer. */
const ValueInfo* Session::required_feed(size_t i) const { return i < required_.size() ? required_[i] : nullptr; }

const MemoryInfo& Session::input_memory(size_t i) const {
  const ValueInfo* feed = required_feed(i);
  return feed != nullptr ? expected_memory(*feed) : cpu_memory();
}

const ExecutionProvider& Session::provider_of(const Node* node) const {
  for (const auto& provider : providers_) {
    if (node != nullptr && provider->type() == node->provider) return *provider;
  }
  return *providers_.back();
}

const ExecutionProvider& Session::input_provider(size_t i) const {
  const ValueInfo* value = required_feed(i);
  const Node* reader = nullptr;
  while (value != nullptr && !value->consumers.empty()) {
    reader = value->consumers.front();
    value = is_copy(*reader) ? reader->output(0) : nullptr;
  }
  return provider_of(reader);
}

const ExecutionProvider& Session::output_provider(size_t i) const {
  return provider_of(model_->graph->outputs[i]->producer);
}

void Session::synchronize() const {
  for (const auto& provider : providers_) provider->synchronize();
}

const MemoryInfo& Session::output_memory(size_t i) const {
  const MemoryInfo* memory = model_->graph->outputs[i]->memory;
  return memory != nullptr ? *memory : cpu_memory();
}

const DeviceMemories* Session::devices() const { return devices_ != nullptr ? &devices_->memories() : nullptr; }

void Session::set_dynamic_options(std::span<const std::pair<std::string, std::string>> options) const {
  for (const auto& [key, value] : options) {
    for (const auto& provider : providers_) provider->set_dynamic_option(key, value);
  }
}

void Session::release_captured_graph(int annotation) const {
  for (const auto& provider : providers_) {
    if (provider->captures_graphs()) provider->release_captured_graph(annotation);
  }
}

}  // namespace ortolan::runtime
