// Recording a group's nodes for one set of shapes, and runs.
#include "gpu/core/group.h"

#include <algorithm>
#include <cstring>

#include "gpu/core/graph/fusion.h"
#include "gpu/core/graph/patterns.h"
#include "gpu/core/host/host_operators.h"
#include "gpu/core/output_places.h"

namespace ortolan::gpu {
namespace {

constexpr size_t kMostPlans = 16;           // kept for a group
constexpr int64_t kFewElements = 4096;      // larger results are computed on the device where it can
constexpr int64_t kMostElements = 1 << 24;  // that the host computes
const std::vector<Overwrite> kNowhere;

bool is_known(const TensorState& state) { return state.host.has_value(); }

/** The node's inputs on the host; nothing where one is not known and its elements matter. */
std::optional<HostInputs> host_inputs(const Node& node, const std::vector<TensorState>& tensors,
                                      std::vector<HostTensor>& shapes) {
  HostInputs inputs;
  shapes.reserve(node.inputs.size());
  for (int value : node.inputs) {
    if (value == kMissing) {
      inputs.push_back(nullptr);
    } else if (is_known(tensors[value])) {
      inputs.push_back(&*tensors[value].host);
    } else if (reads_shapes_alone(node)) {
      shapes.push_back({tensors[value].type, tensors[value].shape, {}});
      inputs.push_back(&shapes.back());
    } else {
      return {};
    }
  }
  return inputs;
}

void copy_bytes(Recording& recording, Memory to, Memory from) {
  int bytes = from.bytes % 4 == 0 ? 4 : 1;
  int32_t count = static_cast<int32_t>(from.bytes / bytes);
  std::vector<std::byte> params(sizeof count);
  std::memcpy(params.data(), &count, sizeof count);
  recording.launch({"copy", {{"WGX", 64}, {"WGY", 1}, {"BYTES", bytes}}},
                   {static_cast<uint32_t>((count + 63) / 64), 1, 1}, {{from, false}, {to, true}}, std::move(params));
}

/** Later nodes were judged by the types that the graph says. */
void check_types(const Graph& graph, const Node& node, const std::vector<TensorState>& tensors) {
  for (int output : node.outputs) {
    if (output == kMissing) continue;
    ElementType said = graph.values[output].type, made = tensors[output].type;
    if (said == ElementType::kUndefined || made == ElementType::kUndefined || said == made) continue;
    throw Error(ErrorKind::kInvalid, describe(node) + ": it makes " + type_name(made) + " where the graph says " +
                                         type_name(said) + "; correct the type of '" + graph.values[output].name + "'");
  }
}

bool compute_on_host(const Node& node, std::vector<TensorState>& tensors) {
  if (!has_host_operator(node)) return false;
  std::vector<HostTensor> shapes;
  std::optional<HostInputs> inputs = host_inputs(node, tensors, shapes);
  if (!inputs) return false;
  std::optional<std::vector<HostTensor>> results =
      evaluate_on_host(node, *inputs, find_operator(node) == nullptr ? kMostElements : kFewElements);
  if (!results) return false;
  for (size_t i = 0; i < results->size(); i++) {
    if (!node.has_output(i)) continue;
    HostTensor& result = (*results)[i];
    TensorState state{result.type, result.shape, {}, {}};
    state.host = std::move(result);
    tensors[node.outputs[i]] = std::move(state);
  }
  return true;
}

}  // namespace

/** What was recorded for one set of shapes. */
struct CompiledGroup::Plan {
  struct Output {
    ElementType type;
    Shape shape;
    std::optional<HostTensor> host;  // known when recorded
  };
  RecordedList recorded;
  std::vector<Output> outputs;
  std::vector<TimedLaunch> launches;             // without times
  std::vector<std::optional<GoodFor>> good_for;  // by place in Key::read; nothing: for the same elements alone
};

BufferRange WorkingMemory::of(size_t bytes) {
  bytes = std::max<size_t>(bytes, 4);
  if (buffer_ == nullptr || buffer_->bytes() < bytes) {
    buffer_.reset();
    buffer_ = device_.allocate(bytes);
  }
  return {buffer_.get(), 0, buffer_->bytes()};
}

void WorkingMemory::keep(Queue& queue, std::shared_ptr<const void> what) {
  if (!kept_.empty() && kept_.back() == what) return;
  if (kept_.size() == kMostPlans) {
    queue.finish();
    kept_.clear();
  }
  kept_.push_back(std::move(what));
}

uint32_t* WorkingMemory::report(Queue& queue, std::shared_ptr<const std::vector<std::string>> texts) {
  if (reported_ == reports_.size()) {
    queue.finish();
    settle();
  }
  Report& report = reports_[reported_++];
  report = {std::move(texts), 0};
  return &report.word;
}

void WorkingMemory::settle() {
  for (Report& report : std::span(reports_).first(reported_)) {
    for (size_t bit = 0; bit < report.texts->size() && failure_.empty(); bit++) {
      if ((report.word >> bit & 1) != 0) failure_ = (*report.texts)[bit];
    }
    report.texts.reset();
  }
  reported_ = 0;
}

void WorkingMemory::check() {
  settle();
  if (!failure_.empty()) throw Error(ErrorKind::kInvalid, std::exchange(failure_, {}));
}

void WorkingMemory::keep_times(std::shared_ptr<LaunchTimes> times,
                               std::shared_ptr<const std::vector<TimedLaunch>> what) {
  if (times != nullptr) times_.emplace_back(std::move(times), std::move(what));
}

std::vector<TimedLaunch> WorkingMemory::timed() {
  std::vector<TimedLaunch> all;
  for (auto& [times, what] : std::exchange(times_, {})) {
    std::vector<LaunchTime> read = times->read();
    for (size_t i = 0; i < read.size() && i < what->size(); i++) {
      all.push_back((*what)[i]);
      all.back().time = read[i];
    }
  }
  return all;
}

std::vector<int> inputs_to_read(const Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Operator* row = find_operator(*node);
    bool feeds = std::any_of(node->outputs.begin(), node->outputs.end(),
                             [&](int output) { return output != kMissing && needed[output]; });
    for (size_t i = 0; i < node->inputs.size(); i++) {
      if (!node->has_input(i) || graph.values[node->inputs[i]].constant) continue;
      bool asked = row != nullptr && row->knows != nullptr && row->knows(*node, i);
      bool alone = row == nullptr && !reads_shapes_alone(*node);  // the host is the only one that computes it
      if (asked || alone || (feeds && !reads_shapes_alone(*node))) needed[node->inputs[i]] = true;
    }
  }
  std::vector<int> positions;
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    if (needed[graph.inputs[i]]) positions.push_back(static_cast<int>(i));
  }
  return positions;
}

CompiledGroup::CompiledGroup(Engine& engine, Graph graph, Progress* progress)
    : engine_(engine),
      progress_(progress),
      graph_(joined_patterns(std::move(graph))),
      read_(inputs_to_read(graph_)),
      readers_(count_readers(graph_)) {
  is_recorded_ = has_static_shapes() && record_for_good();
  for (Value& value : graph_.values) {
    if (value.constant) value.constant = is_recorded_ ? HostBytes() : owned(*value.constant);
  }
}

/** Whether no other recording will come, so that the constants have done their work. */
bool CompiledGroup::record_for_good() {
  Key key;
  for (int input : graph_.inputs) key.shapes.push_back(*graph_.values[input].shape);
  return plan_for(key)->recorded.overwrites.empty();
}

CompiledGroup::~CompiledGroup() = default;

bool CompiledGroup::has_static_shapes() const {
  if (!read_.empty()) return false;
  return std::all_of(graph_.inputs.begin(), graph_.inputs.end(), [&](int input) {
    const std::optional<Shape>& shape = graph_.values[input].shape;
    return shape && std::all_of(shape->begin(), shape->end(), [](int64_t dimension) { return dimension >= 0; });
  });
}

CompiledGroup::Key CompiledGroup::key_of(Queue& queue, std::span<const GroupInput> inputs) const {
  Key key;
  for (const GroupInput& input : inputs) key.shapes.push_back(input.shape);
  bool waits = false;
  for (int position : read_) {
    const GroupInput& input = inputs[position];
    size_t size =
        static_cast<size_t>(element_count(input.shape)) * element_bytes(graph_.values[graph_.inputs[position]].type);
    key.read.emplace_back(size);
    if (size == 0) continue;
    if (input.host != nullptr) {
      std::memcpy(key.read.back().data(), input.host, size);
    } else {
      queue.read(key.read.back().data(), {input.range.buffer, input.range.offset, size});
      waits = true;
    }
  }
  if (waits) queue.finish();
  return key;
}

bool CompiledGroup::serves(const Key& recorded, const Plan& plan, const Key& wanted) const {
  bool same_places = recorded.in_place == wanted.in_place || plan.recorded.overwrites.empty();
  if (!same_places || recorded.shapes != wanted.shapes) return false;
  for (size_t i = 0; i < read_.size(); i++) {
    if (recorded.read[i] == wanted.read[i]) continue;
    if (!plan.good_for[i]) return false;
    ElementType type = graph_.values[graph_.inputs[read_[i]]].type;
    int64_t value = HostTensor{type, wanted.shapes[read_[i]], {wanted.read[i], nullptr}}.integers().at(0);
    if (value < plan.good_for[i]->least || value > plan.good_for[i]->most) return false;
  }
  return true;
}

std::shared_ptr<CompiledGroup::Plan> CompiledGroup::plan_for(const Key& key) {
  auto found = std::find_if(plans_.begin(), plans_.end(),
                            [&](const auto& plan) { return serves(plan.first, *plan.second, key); });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
  } else {
    if (is_recorded_) throw Error(ErrorKind::kInvalid, "an input has another shape than the model says");
    std::shared_ptr<Plan> plan = record(key);
    plans_.emplace_front(key, std::move(plan));
    if (plans_.size() > kMostPlans) plans_.pop_back();
  }
  return plans_.front().second;
}

std::shared_ptr<CompiledGroup::Plan> CompiledGroup::record(const Key& key) {
  auto plan = std::make_shared<Plan>();
  Recording recording(engine_, key.in_place);
  if (progress_ != nullptr) recording.tell(*progress_, graph_.nodes.size());
  std::vector<TensorState> tensors(graph_.values.size());
  for (size_t i = 0; i < graph_.values.size(); i++) {
    const Value& value = graph_.values[i];
    if (!value.constant) continue;
    tensors[i] = {value.type, *value.shape, {}, HostTensor{value.type, *value.shape, *value.constant}};
  }
  for (size_t i = 0; i < graph_.inputs.size(); i++) {
    ElementType type = graph_.values[graph_.inputs[i]].type;
    size_t bytes = static_cast<size_t>(element_count(key.shapes[i])) * element_bytes(type);
    tensors[graph_.inputs[i]] = {type, key.shapes[i], recording.external(static_cast<int>(i), bytes), {}};
  }
  for (size_t i = 0; i < read_.size(); i++) {
    TensorState& state = tensors[graph_.inputs[read_[i]]];
    auto bytes = std::make_shared<std::vector<std::byte>>(key.read[i]);
    state.host = HostTensor{state.type, state.shape, {*bytes, bytes}};
  }
  for (const Node& node : graph_.nodes) {
    if (!compute_on_host(node, tensors)) {
      recording.at_node(static_cast<int>(&node - graph_.nodes.data()));
      lower_node(Lowering(recording, graph_, readers_, tensors, packed_, node));
    }
    check_types(graph_, node, tensors);
  }
  recording.at_node(-1);
  note_good_for(tensors, *plan);
  record_outputs(recording, tensors, *plan);
  plan->recorded = recording.finish();
  for (LaunchLabel& label : plan->recorded.labels) {
    const Node* node = label.node < 0 ? nullptr : &graph_.nodes[label.node];
    plan->launches.push_back({node ? node->name : "", node ? node->op : "", std::move(label.kernel), {}});
  }
  recordings_++;
  launches_ = plan->recorded.launches;
  return plan;
}

// Other values than the recorded one serve where all that reads the input says so.
void CompiledGroup::note_good_for(const std::vector<TensorState>& tensors, Plan& plan) const {
  for (int position : read_) {
    int value = graph_.inputs[position];
    const GoodFor& range = tensors[value].good_for;
    plan.good_for.push_back(range.uses == count_uses(graph_, value) ? std::optional(range) : std::nullopt);
  }
}

// An output that is an input, a constant or another output is copied; any other is computed where it belongs.
void CompiledGroup::record_outputs(Recording& recording, std::vector<TensorState>& tensors, Plan& plan) {
  for (size_t i = 0; i < graph_.outputs.size(); i++) {
    TensorState& state = tensors[graph_.outputs[i]];
    if (state.host) state.host->elements = owned(state.host->elements);
    plan.outputs.push_back({state.type, state.shape, state.host});
    int position = static_cast<int>(graph_.inputs.size() + i);
    store(state);
    if (state.memory.bytes == 0 || state.host) continue;
    if (recording.is_working(state.memory)) {
      recording.bind_external(state.memory, position);
    } else {
      Memory target = recording.external(position, state.memory.bytes);
      copy_bytes(recording, target, state.memory);
    }
  }
}

// Shapes say where outputs are, and whether one is in its input's memory says which launches are right.
std::shared_ptr<CompiledGroup::Plan> CompiledGroup::plan_for_run(Key& key, GroupOutputs& outputs,
                                                                 OutputPlaces& places) {
  key.in_place = in_place_;
  std::shared_ptr<Plan> plan = plan_for(key);
  for (size_t i = 0; i < plan->outputs.size(); i++) {
    places.add(outputs.make(i, plan->outputs[i].type, plan->outputs[i].shape));
  }
  const std::vector<Overwrite>& overwrites = plan->recorded.overwrites;
  if (overwrites.empty() || places.are_in_place(overwrites) == in_place_) return plan;
  key.in_place = in_place_ = !in_place_;
  return plan_for(key);
}

void CompiledGroup::run(Queue& queue, WorkingMemory& working, std::span<const GroupInput> inputs,
                        GroupOutputs& outputs) {
  Key key = key_of(queue, inputs);
  std::lock_guard lock(mutex_);
  OutputPlaces places(engine_.device(), inputs);
  std::shared_ptr<Plan> shared = plan_for_run(key, outputs, places);
  Plan& plan = *shared;
  working.keep(queue, shared);
  std::vector<BufferRange> externals = {working.of(plan.recorded.working_bytes)};
  for (const GroupInput& input : inputs) externals.push_back(input.range);
  for (const BufferRange& place : places.settle(in_place_ ? plan.recorded.overwrites : kNowhere)) {
    externals.push_back(place);
  }
  for (size_t i = 0; i < plan.outputs.size(); i++) {
    const std::optional<HostTensor>& host = plan.outputs[i].host;
    if (host && !host->elements.bytes.empty())
      queue.write(externals[1 + inputs.size() + i], host->elements.bytes.data());
  }
  if (plan.recorded.launches > 0 && working.takes_times()) {
    working.keep_times(queue.run_timed(*plan.recorded.list, externals), {shared, &plan.launches});
  } else if (plan.recorded.launches > 0) {
    queue.run(*plan.recorded.list, externals);
  }
  places.deliver(queue);
  if (!plan.recorded.errors.empty()) {
    uint32_t* word = working.report(queue, {shared, &plan.recorded.errors});
    queue.read(word, {externals[0].buffer, plan.recorded.error_word, sizeof *word});
  }
}

}  // namespace ortolan::gpu
