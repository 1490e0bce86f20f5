// Plans working memory, finds where barriers stand, and records.
#include "gpu/core/recording.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "gpu/core/convolution/folded_groups.h"

namespace ortolan::gpu {
namespace {

constexpr size_t kErrorBits = 31;  // more errors than these share bits
constexpr int kMeasuredRuns = 4;   // the first of which may compile

std::unique_ptr<Buffer> zeros(Device& device, Queue& queue, size_t bytes) {
  std::unique_ptr<Buffer> buffer = device.allocate(std::max<size_t>(bytes, 4));
  const std::vector<std::byte> content(buffer->bytes());
  queue.write({buffer.get(), 0, content.size()}, content.data());
  queue.finish();
  return buffer;
}

/** Nanoseconds of the list's fastest run. */
int64_t least_time(Queue& queue, CommandList& list) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < kMeasuredRuns; i++) {
    std::shared_ptr<LaunchTimes> times = queue.run_timed(list, {});
    queue.finish();
    if (times == nullptr) throw Error(ErrorKind::kInternal, "the device does not tell how long kernels run");
    std::vector<LaunchTime> read = times->read();
    least = std::min(least, read.back().end - read.front().begin);
  }
  return least;
}

}  // namespace

void Recording::tell(Progress& progress, size_t nodes) {
  progress_ = &progress;
  nodes_ = nodes;
  progress.begin();
}

std::string Recording::place() const {
  return "for node " + std::to_string(node_ + 1) + " of " + std::to_string(nodes_) + " on '" +
         engine_.device().traits().name + "'";
}

void Recording::at_node(int node) {
  node_ = node;
  variants_ = 0;
  if (node <= told_) return;
  told_ = node;
  say([&] { return "preparing kernels " + place(); });
}

Memory Recording::add(Block block) {
  size_t bytes = block.bytes;
  blocks_.push_back(std::move(block));
  return {static_cast<int>(blocks_.size()) - 1, bytes};
}

Memory Recording::working(size_t bytes) { return add({Kind::kWorking, std::max<size_t>(bytes, 4)}); }
Memory Recording::external(int position, size_t bytes) { return add({Kind::kExternal, bytes, position}); }
Memory Recording::constant(std::shared_ptr<Buffer> buffer, size_t bytes) {
  return add({Kind::kConstant, bytes, -1, std::move(buffer)});
}

void Recording::bind_external(Memory memory, int position) {
  blocks_[memory.block].kind = Kind::kExternal;
  blocks_[memory.block].position = position;
}

void Recording::clear_on_device(Memory word) {
  int32_t fields[] = {1, 1, 0, 0};  // of kernel fill: elements, elements an item, the value's words
  std::vector<std::byte> params(sizeof fields);
  std::memcpy(params.data(), fields, sizeof fields);
  launch({"fill", {{"WGX", 1}, {"WGY", 1}, {"BYTES", 4}}}, {1, 1, 1}, {{word, true}}, std::move(params));
}

ErrorBit Recording::error(const std::string& text) {
  if (errors_.empty()) {
    error_word_ = working(4);
    clear_on_device(error_word_);
  }
  size_t number = error_count_++ % kErrorBits;
  if (number == errors_.size()) {
    errors_.push_back(text);
  } else {
    errors_[number] += "; or " + text;
  }
  return {error_word_, 1 << number};
}

void Recording::launch(KernelSpec spec, std::array<uint32_t, 3> groups, std::vector<MemoryUse> uses,
                       std::vector<std::byte> params) {
  launch(entry_of(std::move(spec), groups, std::move(uses), std::move(params)));
}

void Recording::launch(LibraryCall call) {
  launch(Entry{{call.name, {}}, {1, 1, 1}, std::move(call.uses), {}, node_, std::move(call.kernel)});
}

Recording::Entry Recording::entry_of(KernelSpec spec, std::array<uint32_t, 3> groups, std::vector<MemoryUse> uses,
                                     std::vector<std::byte> params) const {
  const DeviceTraits& traits = engine_.device().traits();
  if (traits.limits_groups()) {
    auto counts = std::as_bytes(std::span(groups));
    params.insert(params.end(), counts.begin(), counts.end());
    std::array<uint32_t, 3> folded = folded_groups(groups, traits.max_groups);
    if (folded != groups) spec.constants.push_back({"FOLDED", 1});
    groups = folded;
  }
  return {std::move(spec), groups, std::move(uses), std::move(params), node_};
}

void Recording::launch(Entry entry) {
  int number = static_cast<int>(launches_.size());
  for (const MemoryUse& use : entry.uses) {
    Block& block = blocks_[use.memory.block];
    if (block.first < 0) block.first = number;
    block.last = number;
  }
  launches_.push_back(std::move(entry));
}

int64_t Recording::measure(const KernelSpec& spec, std::array<uint32_t, 3> groups, const std::vector<MemoryUse>& uses,
                           const std::vector<std::byte>& params) {
  return measure(entry_of(spec, groups, uses, params));
}

int64_t Recording::measure(const LibraryCall& call) {
  return measure(Entry{{call.name, {}}, {1, 1, 1}, call.uses, {}, node_, call.kernel});
}

int64_t Recording::measure(const Entry& entry) {
  variants_++;
  say([&] {
    return "tuning " + std::string(entry.spec.name) + ", variant " + std::to_string(variants_) + ", " + place();
  });
  Device& device = engine_.device();
  std::unique_ptr<Queue> queue = device.create_queue(true);
  std::map<int, std::shared_ptr<Buffer>> buffers;  // by block
  for (const MemoryUse& use : entry.uses) {
    const Block& block = blocks_[use.memory.block];
    std::shared_ptr<Buffer>& buffer = buffers[use.memory.block];
    if (block.kind == Kind::kConstant) buffer = block.buffer;
    if (buffer == nullptr) buffer = zeros(device, *queue, std::max(use.memory.bytes, block.bytes));
  }
  Launch launch{kernel_of(entry), entry.groups, {}, entry.params, true};
  for (const MemoryUse& use : entry.uses) {
    launch.bindings.push_back(
        {{buffers[use.memory.block].get(), use.memory.offset, std::max<size_t>(use.memory.bytes, 4)}, -1});
  }
  std::unique_ptr<CommandList> list = device.record({std::move(launch)});
  return least_time(*queue, *list);
}

// The largest blocks first, each at the lowest place that is free while it lives.
size_t Recording::plan_working_memory() {
  size_t alignment = engine_.device().traits().offset_alignment, total = 0;
  std::vector<Block*> waiting, placed;
  for (Block& block : blocks_) {
    if (block.kind == Kind::kWorking && block.first >= 0) waiting.push_back(&block);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const Block* a, const Block* b) { return a->bytes > b->bytes; });
  for (Block* block : waiting) {
    size_t place = 0;
    for (const Block* other : placed) {  // by offset
      bool beside = block->first <= other->last && other->first <= block->last;
      if (!beside || other->offset + other->bytes <= place) continue;
      if (place + block->bytes <= other->offset) break;
      place = (other->offset + other->bytes + alignment - 1) / alignment * alignment;
    }
    block->offset = place;
    total = std::max(total, place + block->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block* a, const Block* b) { return a->offset < b->offset; }),
                  block);
  }
  return total;
}

Binding Recording::binding_of(const MemoryUse& use) const {
  const Block& block = blocks_[use.memory.block];
  size_t bytes = std::max<size_t>(use.memory.bytes, 4);  // no API binds nothing
  switch (block.kind) {
    case Kind::kConstant:
      return {{block.buffer.get(), use.memory.offset, bytes}, -1};
    case Kind::kExternal:
      return {{nullptr, use.memory.offset, use.memory.bytes == 0 ? bytes : use.memory.bytes}, block.position + 1};
    default:
      return {{nullptr, block.offset + use.memory.offset, bytes}, 0};
  }
}

bool Recording::conflicts(const MemoryUse& a, const MemoryUse& b) const {
  if (!a.written && !b.written) return false;
  const Block &left = blocks_[a.memory.block], &right = blocks_[b.memory.block];
  if (left.kind != right.kind) return false;
  if (left.kind == Kind::kWorking) {
    return left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
  }
  return left.kind == Kind::kExternal ? left.position == right.position : left.buffer == right.buffer;
}

std::vector<bool> Recording::find_barriers() const {
  std::vector<bool> barriers;
  std::vector<const MemoryUse*> since;  // the last barrier
  for (const Entry& entry : launches_) {
    bool needed = false;
    for (const MemoryUse& use : entry.uses) {
      needed |= std::any_of(since.begin(), since.end(), [&](const MemoryUse* other) { return conflicts(use, *other); });
    }
    if (needed) since.clear();
    for (const MemoryUse& use : entry.uses) since.push_back(&use);
    barriers.push_back(needed);
  }
  return barriers;
}

RecordedList Recording::finish() {
  RecordedList result;
  if (!errors_.empty()) blocks_[error_word_.block].last = static_cast<int>(launches_.size());
  result.working_bytes = plan_working_memory();
  if (!errors_.empty()) result.error_word = blocks_[error_word_.block].offset;
  result.errors = std::move(errors_);
  result.overwrites = std::move(overwrites_);
  result.launches = launches_.size();
  std::vector<bool> barriers = find_barriers();
  std::vector<Launch> launches;
  for (size_t i = 0; i < launches_.size(); i++) {
    Entry& entry = launches_[i];
    say([&] {
      return "compiling " + std::string(entry.spec.name) + ", kernel " + std::to_string(i + 1) + " of " +
             std::to_string(launches_.size()) + " on '" + engine_.device().traits().name + "'";
    });
    Launch launch{kernel_of(entry), entry.groups, {}, std::move(entry.params), barriers[i]};
    for (const MemoryUse& use : entry.uses) launch.bindings.push_back(binding_of(use));
    launches.push_back(std::move(launch));
    result.labels.push_back({entry.node, std::string(entry.spec.name)});
  }
  for (Block& block : blocks_) {
    if (block.kind == Kind::kConstant) result.constants.push_back(std::move(block.buffer));
  }
  result.list = engine_.device().record(std::move(launches));
  return result;
}

}  // namespace ortolan::gpu
