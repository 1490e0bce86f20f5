// Errors that only kernels can see: which node they name, when they show, and that the next run is clean.
#include "gpu/numbered.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

/** A chain of Gathers of a list x of int32: the first by i, the others by j. */
Graph gathers(size_t count) {
  Graph graph;
  auto add = [&](const std::string& name) {
    graph.values.push_back({name, ElementType::kInt32, {}, {}});
    return static_cast<int>(graph.values.size()) - 1;
  };
  int data = add("x"), first = add("i"), second = add("j");
  graph.inputs = {data, first, second};
  for (size_t i = 0; i < count; i++) {
    int result = add("y");
    graph.nodes.push_back(
        {"g" + std::to_string(i), "", "Gather", 13, {}, {data, i == 0 ? first : second}, {result}, {}});
    data = result;
  }
  graph.outputs = {data};
  return graph;
}

class ErrorWord : public testing::Test {
 protected:
  class Output : public GroupOutputs {
   public:
    explicit Output(Device& device) : buffer(device.allocate(16)) {}
    BufferRange make(size_t, ElementType, const Shape& shape) override {
      return {buffer.get(), 0, static_cast<size_t>(shape[0]) * 4};
    }
    std::unique_ptr<Buffer> buffer;
  };

  void give(const std::vector<int32_t>& first, const std::vector<int32_t>& second) {
    const std::vector<int32_t> lists[] = {{10, 11, 12}, first, second};
    std::vector<GroupInput> given;
    for (size_t i = 0; i < 3; i++) {
      buffers_.push_back(device_.allocate(lists[i].size() * 4));
      given.push_back({{static_cast<int64_t>(lists[i].size())}, {buffers_.back().get(), 0, lists[i].size() * 4}});
      queue_->write(given.back().range, lists[i].data());
    }
    group_.run(*queue_, working_, given, output_);
    queue_->finish();
  }
  std::string error() {
    return error_of([&] { working_.check(); });
  }
  std::vector<int32_t> result(size_t count) {
    std::vector<int32_t> values(count);
    queue_->read(values.data(), {output_.buffer.get(), 0, count * 4});
    queue_->finish();
    return values;
  }

  TestDevice device_{TestDeviceOptions{}};
  Engine engine_{device_};
  CompiledGroup group_{engine_, gathers(2)};
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Queue> queue_ = device_.create_queue();
  WorkingMemory working_{device_};
  Output output_{device_};
};

TEST_F(ErrorWord, TheNextRunIsClean) {
  give({0, 3}, {1});
  EXPECT_EQ(error(), "node 'g0' (Gather): an index is outside of axis 0 of size 3");
  EXPECT_EQ(error(), "");
  give({0, 2}, {1});
  EXPECT_EQ(error(), "");
  EXPECT_EQ(result(1), (std::vector<int32_t>{12}));
}

TEST_F(ErrorWord, NamesTheNode) {
  give({0, 2}, {2});
  EXPECT_EQ(error(), "node 'g1' (Gather): an index is outside of axis 0 of size 2");
}

TEST_F(ErrorWord, RunsBetweenChecksKeepTheFirstError) {
  give({0, 2}, {-3});
  for (int i = 0; i < 40; i++) give({0, 2}, {1});
  EXPECT_EQ(error(), "node 'g1' (Gather): an index is outside of axis 0 of size 2");
  EXPECT_EQ(result(1), (std::vector<int32_t>{12}));
}

TEST_F(ErrorWord, NodesShareBitsWhereThereAreMany) {
  CompiledGroup many(engine_, gathers(40));
  buffers_.push_back(device_.allocate(4));
  const int32_t bad = 1;
  BufferRange range{buffers_.back().get(), 0, 4};
  queue_->write(range, &bad);
  std::vector<GroupInput> given(3, {{1}, range});
  many.run(*queue_, working_, given, output_);
  queue_->finish();
  const std::string text = "(Gather): an index is outside of axis 0 of size 1";
  EXPECT_EQ(error(), "node 'g0' " + text + "; or node 'g31' " + text);
}

}  // namespace
}  // namespace ortolan::gpu::test
