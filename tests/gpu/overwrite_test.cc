// Outputs in the memory of inputs: caches that get rows where they are, and results that would spoil what is still
// read.
#include <gtest/gtest.h>

#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

/** A tensor in device memory. */
struct Placed {
  ElementType type;
  Shape shape;
  std::shared_ptr<Buffer> buffer;
  std::vector<std::byte> host;  // the bytes it was made of
  BufferRange range() const { return {buffer.get(), 0, host.size()}; }
};

/** A node with its runs, whose tensors the test places. */
class PlacedNode : public GroupOutputs {
 public:
  PlacedNode(Device& device, const TestNode& node, const std::vector<NodeInput>& like, size_t outputs)
      : device_(device),
        engine_(device),
        group_(engine_, graph_of(node, like, outputs)),
        queue_(device.create_queue()),
        working_(device) {}

  Placed place(const Tensor& tensor) {
    Placed placed{tensor.type, tensor.shape, device_.allocate(tensor.bytes.size()), tensor.bytes};
    queue_->write(placed.range(), tensor.bytes.data());
    queue_->finish();
    return placed;
  }
  /** `outputs` that are given are written where they are; others are made. The host has the inputs too. */
  void run(const std::vector<Placed>& inputs, std::map<size_t, Placed> outputs) {
    outputs_ = std::move(outputs);
    std::vector<GroupInput> given;
    for (const Placed& input : inputs) given.push_back({input.shape, input.range(), input.host.data()});
    group_.run(*queue_, working_, given, *this);
    queue_->finish();
    working_.check();
  }
  Tensor read(const Placed& placed) {
    Tensor tensor{placed.type, placed.shape, std::vector<std::byte>(placed.host.size())};
    queue_->read(tensor.bytes.data(), placed.range());
    queue_->finish();
    return tensor;
  }
  Tensor output(size_t i) { return read(outputs_.at(i)); }
  size_t recordings() const { return group_.recordings(); }

 private:
  BufferRange make(size_t i, ElementType type, const Shape& shape) override {
    auto [found, added] = outputs_.try_emplace(i);
    if (added) {
      size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(type);
      found->second = {type, shape, device_.allocate(bytes), std::vector<std::byte>(bytes)};
    }
    EXPECT_EQ(found->second.shape, shape);
    return found->second.range();
  }

  Device& device_;
  Engine engine_;
  CompiledGroup group_;
  std::unique_ptr<Queue> queue_;
  WorkingMemory working_;
  std::map<size_t, Placed> outputs_;
};

class OverwrittenInputs : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
};

constexpr int64_t kHeads = 4, kKeyHeads = 2, kSize = 16;

/** A step of GroupQueryAttention with rotary embedding for two sequences, of which `past` rows each are cached. */
class Step {
 public:
  Step(std::vector<int64_t> past, unsigned seed) : past_(std::move(past)), seed_(seed) {}

  static TestNode node() {
    return {"GroupQueryAttention",
            {{"num_heads", kHeads}, {"kv_num_heads", kKeyHeads}, {"do_rotary", int64_t{1}}},
            1,
            "com.microsoft"};
  }
  /** Packed rows, the cache, lengths. */
  std::vector<Tensor> inputs(const Tensor& keys, const Tensor& values) const {
    Tensor rows = random_floats({2, 1, (kHeads + 2 * kKeyHeads) * kSize}, seed_);
    Tensor angles = random_floats({32, kSize / 2}, 1, -1, 1);
    int64_t total = std::max(past_[0], past_[1]) + 1;
    return {
        rows,   keys,  values, integers({2}, past_, ElementType::kInt32), integers({}, {total}, ElementType::kInt32),
        angles, angles};
  }
  static std::vector<NodeInput> as_node_inputs(const std::vector<Tensor>& inputs) {
    std::vector<NodeInput> result = {{inputs[0]}, missing(), missing()};
    for (size_t i = 1; i < inputs.size(); i++) result.push_back({inputs[i]});
    return result;
  }

 private:
  std::vector<int64_t> past_;
  unsigned seed_;
};

Tensor cache_of(int64_t rows, unsigned seed) { return random_floats({2, kKeyHeads, rows, kSize}, seed); }

std::vector<Placed> place_all(PlacedNode& node, const std::vector<Tensor>& tensors) {
  std::vector<Placed> placed;
  for (const Tensor& tensor : tensors) placed.push_back(node.place(tensor));
  return placed;
}

/** The first rows of each sequence, which all count. */
std::vector<float> rows_of(const Tensor& cache, int64_t sequence, int64_t from, int64_t to) {
  std::vector<float> all = cache.floats(), part;
  int64_t capacity = cache.shape[2];
  for (int64_t h = 0; h < kKeyHeads; h++) {
    auto first = all.begin() + (sequence * kKeyHeads + h) * capacity * kSize;
    part.insert(part.end(), first + from * kSize, first + to * kSize);
  }
  return part;
}

TEST_P(OverwrittenInputs, ACacheGetsItsRowsInPlace) {
  Tensor keys = cache_of(8, 2), values = cache_of(8, 3);
  std::vector<NodeInput> like = Step::as_node_inputs(Step({3, 1}, 4).inputs(keys, values));
  PlacedNode in_place(device(), Step::node(), like, 3), apart(device(), Step::node(), like, 3);
  Placed k = in_place.place(keys), v = in_place.place(values);
  size_t recordings = 0;
  for (int64_t step = 0; step < 5; step++) {
    SCOPED_TRACE(step);
    std::vector<int64_t> past = {3 + step, 1 + step};
    Step one(past, 10 + static_cast<unsigned>(step));
    std::vector<Placed> inputs = place_all(in_place, one.inputs(keys, values));
    inputs[1] = k, inputs[2] = v;
    apart.run(place_all(apart, one.inputs(in_place.read(k), in_place.read(v))), {});
    Tensor before = in_place.read(v);
    in_place.run(inputs, {{1, k}, {2, v}});
    expect_near(in_place.output(0), apart.output(0), 0, 0);
    for (int64_t b = 0; b < 2; b++) {
      for (size_t i : {1, 2}) {
        EXPECT_EQ(rows_of(in_place.output(i), b, 0, past[b] + 1), rows_of(apart.output(i), b, 0, past[b] + 1));
      }
      EXPECT_EQ(rows_of(in_place.output(2), b, past[b] + 1, 8), rows_of(before, b, past[b] + 1, 8));
    }
    if (step == 0) recordings = in_place.recordings();
  }
  EXPECT_EQ(in_place.recordings(), recordings);
  EXPECT_EQ(apart.recordings(), 1u);
}

TEST_P(OverwrittenInputs, AWrongLengthLeavesTheCacheAsItIs) {
  Tensor keys = cache_of(4, 2), values = cache_of(4, 3);
  Step step({3, 4}, 5);
  std::vector<Tensor> tensors = step.inputs(keys, values);
  tensors[4] = integers({}, {4}, ElementType::kInt32);
  PlacedNode node(device(), Step::node(), Step::as_node_inputs(tensors), 3);
  std::vector<Placed> inputs = place_all(node, tensors);
  EXPECT_TRUE(ortolan::test::throws<Error>("outside of the cache", [&] {
    node.run(inputs, {{1, inputs[1]}, {2, inputs[2]}});
  }));
  EXPECT_EQ(rows_of(node.read(inputs[1]), 1, 0, 4), rows_of(keys, 1, 0, 4));
}

TEST_P(OverwrittenInputs, AResultThatWouldSpoilAnInputIsRight) {
  Tensor x = random_floats({5, 5}, 6);
  PlacedNode node(device(), {"Transpose"}, {{x}}, 1);
  Placed in = node.place(x);
  Tensor wanted = run_node(device(), {"Transpose"}, {{x}})[0];
  for (int turn = 0; turn < 2; turn++) {
    node.run({in}, {{0, in}});
    expect_near(node.output(0), turn == 0 ? wanted : x, 0, 0);
  }
  EXPECT_EQ(node.recordings(), 1u);
}

TEST_P(OverwrittenInputs, OneHalfOfACacheInPlace) {
  Tensor keys = cache_of(6, 2), values = cache_of(6, 3);
  std::vector<Tensor> tensors = Step({2, 5}, 7).inputs(keys, values);
  std::vector<Tensor> wanted = run_node(device(), Step::node(), Step::as_node_inputs(tensors), 3);
  PlacedNode node(device(), Step::node(), Step::as_node_inputs(tensors), 3);
  std::vector<Placed> inputs = place_all(node, tensors);
  node.run(inputs, {{1, inputs[1]}});
  for (size_t i = 0; i < 3; i++) expect_near(node.output(i), wanted[i], 0, 0);
}

/** The cache [2, 2, 4, 3] with rows of [2, 2, 2, 3] from two places on. */
Tensor scattered(const Tensor& cache, const Tensor& rows, const std::vector<int64_t>& places) {
  std::vector<float> values = cache.floats(), fresh = rows.floats();
  for (int64_t i = 0; i < 24; i++) {
    int64_t head = i / 6, n = i / 3 % 2;
    values[(head * 4 + (places[head / 2] + n) % 4) * 3 + i % 3] = fresh[i];
  }
  return floats(cache.shape, values, cache.type);
}

TEST_P(OverwrittenInputs, ScatteredRows) {
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
    for (const char* mode : {"linear", "circular"}) {
      SCOPED_TRACE(mode);
      Tensor cache = floats({2, 2, 4, 3}, random_floats({48}, 1).floats(), type);
      Tensor rows = floats({2, 2, 2, 3}, random_floats({24}, 2).floats(), type);
      std::vector<int64_t> places = {2, mode == std::string("linear") ? 0 : 7};
      TestNode test{"TensorScatter", {{"mode", std::string(mode)}}, 24};
      std::vector<Tensor> tensors = {cache, rows, integers({2}, places)};
      Tensor wanted = scattered(cache, rows, places);
      std::vector<NodeInput> inputs = {{tensors[0]}, {tensors[1]}, {tensors[2]}};
      expect_near(run_node(device(), test, inputs)[0], wanted, 0, 0);
      PlacedNode node(device(), test, inputs, 1);
      std::vector<Placed> placed = place_all(node, tensors);
      node.run(placed, {{0, placed[0]}});
      expect_near(node.output(0), wanted, 0, 0);
    }
  }
}

TEST_P(OverwrittenInputs, ACacheThatIsItsOwnUpdate) {
  Tensor cache = random_floats({2, 2, 4, 3}, 1);
  std::vector<Tensor> tensors = {cache, cache, integers({2}, {1, 3})};
  TestNode test{"TensorScatter", {{"mode", std::string("circular")}}, 24};
  std::vector<NodeInput> inputs = {{tensors[0]}, {tensors[1]}, {tensors[2]}};
  PlacedNode node(device(), test, inputs, 1);
  std::vector<Placed> placed = place_all(node, tensors);
  placed[1] = placed[0];
  node.run(placed, {{0, placed[0]}});
  expect_near(node.output(0), run_node(device(), test, inputs)[0], 0, 0);
}

TEST_P(OverwrittenInputs, AWriteIndexOutsideEndsTheRun) {
  std::vector<NodeInput> inputs = {
      {random_floats({2, 2, 4, 3}, 1)}, {random_floats({2, 2, 2, 3}, 2)}, {integers({2}, {0, 3})}};
  EXPECT_TRUE(ortolan::test::throws<Error>("outside of a cache of 4 rows", [&] {
    run_node(device(), {"TensorScatter", {}, 24}, inputs);
  }));
}

INSTANTIATE_TEST_SUITE_P(Devices, OverwrittenInputs, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

/** Launched groups for a step in place with room for `rows` rows. */
int64_t groups_of_a_step(int64_t rows) {
  TestDevice device(TestDeviceOptions{});
  std::vector<Tensor> tensors = Step({2, 5}, 8).inputs(cache_of(rows, 2), cache_of(rows, 3));
  PlacedNode node(device, Step::node(), Step::as_node_inputs(tensors), 3);
  std::vector<Placed> inputs = place_all(node, tensors);
  int64_t before = device.work().groups;
  node.run(inputs, {{1, inputs[1]}, {2, inputs[2]}});
  EXPECT_EQ(device.work().bytes_copied, 0);
  return device.work().groups - before;
}

TEST(OverwrittenCache, RoomCostsNothing) { EXPECT_EQ(groups_of_a_step(8), groups_of_a_step(30)); }

}  // namespace
}  // namespace ortolan::gpu::test
