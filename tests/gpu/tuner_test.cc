// Tiles chosen by the time that they take on the device, kept from one engine to the next; and times of launches.
#include "gpu/core/tuner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "gpu/core/group.h"
#include "gpu/testdevice/test_device.h"
#include "thrown_text.h"

namespace ortolan::gpu {
namespace {

namespace fs = std::filesystem;
using test::TestDevice;
using Constants = std::map<std::string, int, std::less<>>;

constexpr int64_t kRows = 9, kColumns = 37, kDepth = 5;

class TunerTest : public testing::Test {
 protected:
  TunerTest() : folder_(fs::path(testing::TempDir()) / ("tuning." + std::to_string(getpid()))) {
    for (int64_t i = 0; i < kRows * kDepth; i++) a_.push_back(static_cast<float>(i % 11) - 5);
    for (int64_t i = 0; i < kDepth * kColumns; i++) b_.push_back(static_cast<float>(i % 7) - 3);
  }
  ~TunerTest() override { fs::remove_all(folder_); }

  /** A x B, with B constant. */
  Graph product() const {
    Graph graph;
    auto bytes = std::make_shared<std::vector<float>>(b_);
    graph.values = {
        {"a", ElementType::kFloat, Shape{kRows, kDepth}, {}},
        {"b", ElementType::kFloat, Shape{kDepth, kColumns}, HostBytes{std::as_bytes(std::span(*bytes)), bytes}},
        {"c", ElementType::kFloat, {}, {}}};
    graph.nodes.push_back({"product", "", "MatMul", 13, {}, {0, 1}, {2}, {}});
    graph.inputs = {0};
    graph.outputs = {2};
    return graph;
  }
  struct Output : GroupOutputs {
    explicit Output(Buffer& buffer) : buffer(buffer) {}
    BufferRange make(size_t, ElementType, const Shape&) override { return {&buffer, 0, buffer.bytes()}; }
    Buffer& buffer;
  };
  /** Runs the product, checks it, and gives what the device said of the run. */
  std::vector<TimedLaunch> run(Engine& engine) {
    Device& device = engine.device();
    CompiledGroup group(engine, product());
    std::unique_ptr<Queue> queue = device.create_queue(true);
    WorkingMemory working(device);
    working.take_times(true);
    std::unique_ptr<Buffer> in = device.allocate(a_.size() * 4), out = device.allocate(kRows * kColumns * 4);
    queue->write({in.get(), 0, in->bytes()}, a_.data());
    Output output(*out);
    const GroupInput inputs[] = {{{kRows, kDepth}, {in.get(), 0, in->bytes()}}};
    group.run(*queue, working, inputs, output);
    std::vector<float> c(kRows * kColumns);
    queue->read(c.data(), {out.get(), 0, out->bytes()});
    queue->finish();
    expect_product(c);
    return working.timed();
  }
  void expect_product(const std::vector<float>& c) const {
    for (int64_t i = 0; i < kRows * kColumns; i++) {
      float sum = 0;
      for (int64_t k = 0; k < kDepth; k++) sum += a_[i / kColumns * kDepth + k] * b_[k * kColumns + i % kColumns];
      ASSERT_EQ(c[i], sum) << "element " << i;
    }
  }
  /** A device on which tiles of that size are the fastest. */
  static std::unique_ptr<TestDevice> device_that_likes(int rows, int vectors) {
    test::TestDeviceOptions options;
    options.kind = DeviceClass::kWide;
    auto device = std::make_unique<TestDevice>(options);
    device->set_cost([=](const std::string& kernel, const Constants& constants, const auto&) -> int64_t {
      if (kernel != "product_registers") return 1;
      return constants.at("TM") == rows && constants.at("TN") == vectors ? 10 : 1000;
    });
    return device;
  }
  static int64_t time_of_product(const std::vector<TimedLaunch>& launches) {
    return launches.back().time.end - launches.back().time.begin;
  }

  fs::path folder_;
  std::vector<float> a_, b_;
};

TEST_F(TunerTest, TheFastestTileIsChosenKeptAndFoundAgain) {
  auto device = device_that_likes(1, 2);
  {
    Engine engine(*device, folder_, Tuning::kFull);
    EXPECT_EQ(time_of_product(run(engine)), 10);
    EXPECT_EQ(engine.tuner().measured(), 1u);
    EXPECT_EQ(time_of_product(run(engine)), 10);
    EXPECT_EQ(engine.tuner().measured(), 1u);
  }
  Engine later(*device, folder_, Tuning::kFull);
  EXPECT_EQ(time_of_product(run(later)), 10);
  EXPECT_EQ(later.tuner().measured(), 0u);
}

TEST_F(TunerTest, GroupsWithSharedMemoryAreTunedToo) {
  TestDevice device({});
  device.set_cost([](const std::string&, const Constants& constants, const auto&) -> int64_t {
    return constants.at("WGX") == 8 && constants.at("TM") == 2 && constants.at("TN") == 2 ? 10 : 1000;
  });
  Engine full(device, {}, Tuning::kFull), fast(device, {}, Tuning::kFast), none(device);
  EXPECT_EQ(time_of_product(run(full)), 10);
  EXPECT_EQ(time_of_product(run(fast)), 1000);
  EXPECT_EQ(time_of_product(run(none)), 1000);
}

TEST_F(TunerTest, TilesOfLanesFitTheRegisters) {
  for (int registers : {16, 32}) {
    test::TestDeviceOptions options;
    options.kind = DeviceClass::kLanes;
    options.vector_registers = registers;
    TestDevice device(options);
    int most = 0;
    device.set_cost([&](const std::string& kernel, const Constants& constants, const auto&) -> int64_t {
      if (kernel == "product_lanes") most = std::max(most, constants.at("TM") * constants.at("TN"));
      return 1;
    });
    Engine engine(device, {}, Tuning::kFull);
    run(engine);
    EXPECT_EQ(most, registers);
  }
}

TEST_F(TunerTest, FastTuningTriesTilesBesideTheDefault) {
  auto device = device_that_likes(4, 2);
  Engine engine(*device, {}, Tuning::kFast);
  EXPECT_EQ(time_of_product(run(engine)), 10);
  auto other = device_that_likes(1, 1);
  Engine far(*other, {}, Tuning::kFast);
  EXPECT_EQ(time_of_product(run(far)), 1000);
}

TEST_F(TunerTest, WithoutTuningNothingIsMeasured) {
  auto device = device_that_likes(1, 2);
  Engine engine(*device, folder_, Tuning::kNone);
  EXPECT_EQ(time_of_product(run(engine)), 1000);
  EXPECT_EQ(engine.tuner().measured(), 0u);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(TunerTest, DamagedTuningIsMeasuredAnew) {
  auto device = device_that_likes(1, 2);
  Engine(*device, folder_, Tuning::kFull)
      .tuner()
      .choose("product_registers", "p", {"a", "b"}, [](const std::string& name) { return name == "b" ? 1 : 2; });
  for (const auto& file : fs::directory_iterator(folder_)) std::ofstream(file.path()) << "damaged";
  for (size_t measured : {1, 0}) {
    Engine engine(*device, folder_, Tuning::kFull);
    EXPECT_EQ(engine.tuner().choose("product_registers", "p", {"a", "b"},
                                    [](const std::string& name) { return name == "b" ? 1 : 2; }),
              "b");
    EXPECT_EQ(engine.tuner().measured(), measured);
  }
}

TEST_F(TunerTest, ACandidateThatFailsIsNotChosen) {
  auto device = device_that_likes(1, 2);
  Tuner tuner(*device, KernelStore({}), Tuning::kFull);
  auto measure = [](const std::string& name) -> int64_t {
    if (name == "b") throw Error(ErrorKind::kCompile, "it does not compile");
    return name == "c" ? 1 : 2;
  };
  EXPECT_EQ(tuner.choose("k", "p", {"a", "b", "c"}, measure), "c");
  auto lost = [](const std::string&) -> int64_t { throw Error(ErrorKind::kDeviceLost, "it is gone"); };
  EXPECT_EQ(ortolan::test::error_of<Error>([&] { tuner.choose("k", "other", {"a", "b"}, lost); }), "it is gone");
}

TEST_F(TunerTest, LongPreparationTellsOfItself) {
  auto device = device_that_likes(1, 2);
  Engine engine(*device, {}, Tuning::kFull);
  std::vector<std::string> lines;
  Progress::Clock::time_point now;
  Progress progress([&](const std::string& line) { lines.push_back(line); },
                    [&] { return now += Progress::kInterval; });
  CompiledGroup(engine, product(), &progress);
  ASSERT_GT(lines.size(), 4u);
  EXPECT_EQ(lines[0], "preparing kernels for node 1 of 1 on 'test device'");
  EXPECT_EQ(lines[1], "tuning product_registers, variant 1, for node 1 of 1 on 'test device'");
  EXPECT_EQ(lines[2], "tuning product_registers, variant 2, for node 1 of 1 on 'test device'");
  EXPECT_EQ(lines.back(), "compiling product_registers, kernel 1 of 1 on 'test device'");
}

TEST(Progress, TellsAtIntervalsOfOneStretchOfWork) {
  int lines = 0;
  Progress::Clock::time_point now;
  Progress progress([&](const std::string&) { lines++; }, [&] { return now; });
  auto work = [&](int seconds) {
    for (int i = 0; i < seconds; i++) {
      now += std::chrono::seconds(1);
      progress.at([] { return "here"; });
    }
  };
  progress.begin();
  work(4);
  EXPECT_EQ(lines, 0);
  progress.begin();  // the next group of the same session
  work(1);
  EXPECT_EQ(lines, 1);
  work(11);
  EXPECT_EQ(lines, 3);
  now += std::chrono::hours(1);
  progress.begin();  // other shapes, later
  work(4);
  EXPECT_EQ(lines, 3);
  work(1);
  EXPECT_EQ(lines, 4);
}

TEST_F(TunerTest, LaunchesAreToldByNodeAndKernel) {
  auto device = device_that_likes(1, 2);
  Engine engine(*device);
  std::vector<TimedLaunch> launches = run(engine);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].node, "product");
  EXPECT_EQ(launches[0].op, "MatMul");
  EXPECT_EQ(launches[0].kernel, "product_registers");
}

}  // namespace
}  // namespace ortolan::gpu
