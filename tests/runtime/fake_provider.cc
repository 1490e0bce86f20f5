// A provider for tests: memory that the CPU cannot touch, queues that put work off, nodes claimed as a test says.
#include "fake_provider.h"

#include <sys/mman.h>
#include <chrono>

#include <cmath>
#include <cstring>

namespace ortolan::runtime {
namespace {

constexpr size_t kRange = size_t{1} << 30;

const MemoryInfo& device_memory(int32_t device, const std::string& owner, int allocator_type) {
  return interned({"Fake", allocator_type, MemoryType::kDefault, {DeviceType::kGpu, 0xfa4e, device}, false}, owner);
}

bool takes(const Node& node) {
  bool known = node.op_type == "Add" || node.op_type == "Mul" || node.op_type == "Tanh" || node.op_type == "Identity";
  return known && node.domain.empty() && node.input(0)->type.element == ElementType::kFloat;
}

/** Values of the host as the fake computes with them. */
struct HostTensor {
  Shape shape;
  std::vector<float> values;
};

float apply(const std::string& op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Mul") return a * b;
  return op == "Tanh" ? std::tanh(a) : a;
}

/** Operands have one shape, or one of them a single element. */
HostTensor apply(const std::string& op, const HostTensor& a, const HostTensor* b) {
  const HostTensor& larger = b != nullptr && a.values.size() == 1 ? *b : a;
  HostTensor result{larger.shape, std::vector<float>(larger.values.size())};
  auto at = [](const HostTensor& x, size_t i) { return x.values.size() == 1 ? x.values[0] : x.values[i]; };
  for (size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = apply(op, at(a, i), b != nullptr ? at(*b, i) : 0);
  }
  return result;
}

class FakeProvider;

/** Computes nodes one after the other, at once or in the run's queue. */
class FakeKernel final : public OpKernel {
 public:
  FakeKernel(const FakeProvider& provider, std::vector<const Node*> nodes, std::vector<std::string> inputs,
             std::vector<std::string> outputs);
  void compute(KernelContext& context) const override;

 private:
  struct Operation {
    std::string op;
    std::vector<std::string> inputs;
    std::string output;
  };
  void compute_bytes(std::map<std::string, HostTensor> values,
                     const std::vector<std::shared_ptr<std::byte>>& outputs) const;
  const FakeProvider& provider_;
  std::vector<Operation> operations_;
  std::map<std::string, HostTensor> constants_;
  std::vector<std::string> inputs_, outputs_;
};

class FakeTransfer final : public DataTransfer {
 public:
  FakeTransfer(const OpaqueMemory& memory, const OpaqueMemory* constants, const OpaqueMemory* peer)
      : memory_(memory), constants_(constants), peer_(peer) {}
  bool can_copy(const MemoryInfo& from, const MemoryInfo& to) const override {
    bool ours = same_place(from, memory_.info()) || same_place(to, memory_.info());
    return ours && reaches(from) && reaches(to);
  }
  void copy(const Tensor& from, Tensor& to, Stream* stream) const override {
    auto source = side(from), target = side(to);
    size_t bytes = from.byte_count();
    auto work = [source, target, bytes] { std::memcpy(target.get(), source.get(), bytes); };
    stream != nullptr ? static_cast<LateStream*>(stream)->put(work) : work();
  }

 private:
  std::shared_ptr<std::byte> side(const Tensor& tensor) const {
    if (constants_ != nullptr && constants_->holds(tensor.raw())) return constants_->bytes(tensor.raw());
    if (same_place(tensor.memory(), memory_.info())) return memory_.bytes(tensor.raw());
    if (!tensor.memory().on_cpu()) return peer_->bytes(tensor.raw());
    return {static_cast<std::byte*>(const_cast<void*>(tensor.raw())), [](std::byte*) {}};
  }
  bool reaches(const MemoryInfo& place) const {
    return place.on_cpu() || same_place(place, memory_.info()) ||
           (peer_ != nullptr && same_place(place, peer_->info()));
  }
  const OpaqueMemory& memory_;
  const OpaqueMemory* constants_;
  const OpaqueMemory* peer_;
};

class FakeProvider final : public ExecutionProvider {
 public:
  explicit FakeProvider(std::shared_ptr<FakeSettings> settings)
      : settings_(std::move(settings)),
        transfer_(*settings_->memory, settings_->constants.get(), settings_->peer.get()) {}
  const std::string& type() const override { return settings_->type; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  const MemoryInfo& memory() const override { return settings_->memory->info(); }
  std::vector<std::shared_ptr<Allocator>> allocators() const override {
    if (settings_->constants == nullptr) return {settings_->memory};
    return {settings_->memory, settings_->constants};
  }
  std::optional<uint64_t> free_bytes() const override { return settings_->free_bytes; }
  const DataTransfer* data_transfer() const override { return &transfer_; }
  size_t least_island() const override { return settings_->least_island; }
  std::unique_ptr<Stream> make_stream() override {
    return settings_->streams ? std::make_unique<LateStream>(memory(), settings_->host_waits) : nullptr;
  }

  Capability get_capability(const Graph& graph) override {
    fail_if("get_capability");
    std::map<int, NodeGroup> groups;
    Capability capability;
    for (const auto& node : graph.nodes()) {
      if (!node->provider.empty()) continue;
      int group = takes(*node) ? settings_->group_of(*node) : -1;
      if (group < 0) {
        capability.declined.push_back({node.get(), "the test does not want it"});
      } else if (settings_->compile) {
        groups[group].nodes.push_back(node.get());
      } else {
        capability.groups.push_back({{node.get()}, false});
      }
    }
    for (auto& [number, group] : groups) {
      group.compile = true;
      group.drop_constants = settings_->drop_constants;
      capability.groups.push_back(std::move(group));
    }
    return capability;
  }

  std::vector<CompiledGroup> compile(std::span<const FusedGroup> groups) override {
    fail_if("compile");
    std::vector<CompiledGroup> compiled(groups.size());
    if (settings_->fails_at == "nothing compiled") return compiled;
    for (size_t i = 0; i < groups.size(); ++i) {
      compiled[i].kernel =
          std::make_unique<FakeKernel>(*this, groups[i].nodes, names(groups[i].inputs), names(groups[i].outputs));
    }
    return compiled;
  }

  ChosenKernel make_kernel(const KernelInfo& info) const override {
    const Node& node = info.node();
    return {std::make_unique<FakeKernel>(*this, std::vector{&node}, names(node.inputs()), names(node.outputs()))};
  }

  void on_run_start(const RunOptions&) override {
    fail_if("run start");
    ++settings_->runs_started;
  }
  void on_run_end(const RunOptions&, bool) override {
    ++settings_->runs_ended;
    fail_if("run end");
  }
  /** The bytes behind an address of the device. */
  std::shared_ptr<std::byte> bytes(const void* address) const {
    const OpaqueMemory* constants = settings_->constants.get();
    return (constants != nullptr && constants->holds(address) ? *constants : *settings_->memory).bytes(address);
  }
  bool slow() const { return settings_->slow; }

 private:
  void fail_if(const char* point) const {
    require(settings_->fails_at != point, ErrorCode::kEpFail, "the fake fails at ", point);
  }
  static std::vector<std::string> names(const std::vector<ValueInfo*>& values) {
    std::vector<std::string> result;
    for (const ValueInfo* value : values) result.push_back(value->name);
    return result;
  }
  std::shared_ptr<FakeSettings> settings_;
  FakeTransfer transfer_;
  std::vector<std::pair<std::string, std::string>> options_;
};

HostTensor host_tensor(const Shape& shape, const void* data) {
  auto* begin = static_cast<const float*>(data);
  return {shape, {begin, begin + shape.element_count()}};
}

FakeKernel::FakeKernel(const FakeProvider& provider, std::vector<const Node*> nodes, std::vector<std::string> inputs,
                       std::vector<std::string> outputs)
    : provider_(provider), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  for (const Node* node : nodes) {
    Operation operation{node->op_type, {}, node->output(0)->name};
    for (const ValueInfo* input : node->inputs()) {
      operation.inputs.push_back(input->name);
      const Tensor* constant = input->fixed_constant();
      if (constant == nullptr || !constant->memory().on_cpu()) continue;
      constants_[input->name] = host_tensor(constant->shape(), constant->raw());
    }
    operations_.push_back(std::move(operation));
  }
}

void FakeKernel::compute(KernelContext& context) const {
  if (provider_.slow()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  auto shapes = constants_;  // values by name; those of the inputs are read when the work is done
  std::vector<std::shared_ptr<std::byte>> sources, targets;
  std::vector<Shape> given;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& input = context.input(i);
    require(same_place(input.memory(), provider_.memory()), ErrorCode::kRuntimeException, "input '", inputs_[i],
            "' lies in memory '", input.memory().name, "' of device ", input.memory().device.id);
    sources.push_back(provider_.bytes(input.raw()));
    given.push_back(input.shape());
    shapes[inputs_[i]] = {input.shape(), std::vector<float>(input.element_count())};
  }
  for (const Operation& each : operations_) {
    const HostTensor* second = each.inputs.size() > 1 ? &shapes.at(each.inputs[1]) : nullptr;
    shapes[each.output] = apply(each.op, shapes.at(each.inputs[0]), second);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    targets.push_back(provider_.bytes(context.output(i, shapes.at(outputs_[i]).shape).raw()));
  }
  auto work = [this, sources, given, targets] {
    auto values = constants_;
    for (size_t i = 0; i < inputs_.size(); ++i) values[inputs_[i]] = host_tensor(given[i], sources[i].get());
    compute_bytes(std::move(values), targets);
  };
  auto* stream = static_cast<LateStream*>(context.stream());
  stream != nullptr ? stream->put(work) : work();
}

void FakeKernel::compute_bytes(std::map<std::string, HostTensor> values,
                               const std::vector<std::shared_ptr<std::byte>>& outputs) const {
  for (const Operation& each : operations_) {
    const HostTensor* second = each.inputs.size() > 1 ? &values.at(each.inputs[1]) : nullptr;
    values[each.output] = apply(each.op, values.at(each.inputs[0]), second);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& made = values.at(outputs_[i]).values;
    if (!made.empty()) std::memcpy(outputs[i].get(), made.data(), made.size() * sizeof(float));
  }
}

class FakeFactory final : public ProviderFactory {
 public:
  explicit FakeFactory(std::shared_ptr<FakeSettings> settings) : settings_(std::move(settings)) {}
  const std::string& type() const override { return settings_->type; }
  std::unique_ptr<ExecutionProvider> make(const SessionOptions&, const Logger&) const override {
    require(settings_->fails_at != "make", ErrorCode::kEpFail, "the fake fails at make");
    return std::make_unique<FakeProvider>(settings_);
  }

 private:
  std::shared_ptr<FakeSettings> settings_;
};

}  // namespace

OpaqueMemory::OpaqueMemory(int32_t device, const std::string& owner, int allocator_type)
    : info_(device_memory(device, owner, allocator_type)) {
  void* range = mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(range != MAP_FAILED, ErrorCode::kFail, "cannot reserve addresses");
  range_ = static_cast<std::byte*>(range);
}

OpaqueMemory::~OpaqueMemory() { munmap(range_, kRange); }

void* OpaqueMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  ++allocations_;
  size_t place = next_;
  next_ += (bytes / 64 + 1) * 64;
  require(next_ <= kRange, ErrorCode::kFail, "the fake device is full");
  blocks_[range_ + place] = std::shared_ptr<std::byte[]>(new std::byte[bytes + 1]);
  return range_ + place;
}

void OpaqueMemory::free(void* block) noexcept {
  std::lock_guard lock(mutex_);
  blocks_.erase(static_cast<std::byte*>(block));
}

std::shared_ptr<std::byte> OpaqueMemory::bytes(const void* address) const {
  std::lock_guard lock(mutex_);
  auto found = blocks_.upper_bound(static_cast<const std::byte*>(address));
  require(found != blocks_.begin(), ErrorCode::kRuntimeException, "an address is not of the device");
  --found;
  return {found->second, found->second.get() + (static_cast<const std::byte*>(address) - found->first)};
}

bool OpaqueMemory::holds(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return byte >= range_ && byte < range_ + kRange;
}

size_t OpaqueMemory::blocks() const {
  std::lock_guard lock(mutex_);
  return blocks_.size();
}

void LateStream::wait(Stream* consumer) {
  auto* late = dynamic_cast<LateStream*>(consumer);
  if (late == nullptr) {
    ++host_waits_;
    return drain();
  }
  late->put([this] { drain(); });
}

void LateStream::put(std::function<void()> work) {
  require(work_.empty() || user_ == std::this_thread::get_id(), ErrorCode::kRuntimeException,
          "two threads put work into one queue");
  user_ = std::this_thread::get_id();
  work_.push_back(std::move(work));
}

void LateStream::drain() {
  while (!work_.empty()) {
    auto work = std::move(work_.front());
    work_.pop_front();
    work();
  }
}

std::shared_ptr<const ProviderFactory> fake_factory(std::shared_ptr<FakeSettings> settings) {
  if (settings->memory == nullptr) settings->memory = std::make_shared<OpaqueMemory>(settings->device, settings->type);
  return std::make_shared<FakeFactory>(std::move(settings));
}

}  // namespace ortolan::runtime
