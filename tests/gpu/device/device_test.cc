// What every backend must do.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "tested_device.h"

namespace ortolan::gpu {
namespace {

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, ::testing::ValuesIn(tested_devices()),
                         [](const auto& info) { return info.param.name; });

constexpr int kItems = 16;

size_t bytes_of(const std::vector<float>& values) { return values.size() * sizeof(float); }

TEST_P(DeviceTest, TraitsAreWithinBounds) {
  const DeviceTraits& traits = device_->traits();
  EXPECT_FALSE(traits.name.empty());
  EXPECT_FALSE(traits.driver.empty());
  EXPECT_GE(traits.max_group_items, 1);
  EXPECT_GE(traits.compute_units, 1);
  EXPECT_EQ(traits.offset_alignment & (traits.offset_alignment - 1), 0u);
  EXPECT_LE(traits.max_buffer_bytes, traits.memory_bytes);
}

TEST_P(DeviceTest, BytesComeBack) {
  for (size_t bytes : {size_t{1}, size_t{3}, size_t{64}, size_t{4097}}) {
    std::vector<unsigned char> in(bytes), out(bytes);
    for (size_t i = 0; i < bytes; i++) in[i] = static_cast<unsigned char>(i * 7 + 1);
    std::unique_ptr<Buffer> buffer = device_->allocate(bytes + 5);
    queue_->write({buffer.get(), 5, bytes}, in.data());
    queue_->read(out.data(), {buffer.get(), 5, bytes});
    queue_->finish();
    EXPECT_EQ(in, out) << bytes;
  }
}

TEST_P(DeviceTest, BytesAreMadeInPlace) {
  for (size_t bytes : {size_t{4}, size_t{4097}, size_t{5} << 20}) {
    std::vector<unsigned char> wanted(bytes + 8, 9), out(bytes + 8);
    std::unique_ptr<Buffer> buffer = device_->allocate(bytes + 8);
    queue_->write(whole(*buffer), wanted.data());
    queue_->make({buffer.get(), 4, bytes}, [&](std::span<std::byte> made) {
      ASSERT_EQ(made.size(), bytes);
      for (size_t i = 0; i < bytes; i++) made[i] = std::byte(i * 7 + 1);
    });
    for (size_t i = 0; i < bytes; i++) wanted[i + 4] = static_cast<unsigned char>(i * 7 + 1);
    queue_->read(out.data(), whole(*buffer));
    queue_->finish();
    EXPECT_EQ(out, wanted) << bytes;
  }
}

TEST_P(DeviceTest, AMakerMayThrow) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  auto fail = [](std::span<std::byte>) { throw Error(ErrorKind::kInvalid, "made up"); };
  EXPECT_TRUE(throws(ErrorKind::kInvalid, "made up", [&] { queue_->make(whole(*buffer), fail); }));
  queue_->write(whole(*buffer), "12345678");
  queue_->finish();
}

TEST_P(DeviceTest, NothingIsMovedWhereThereAreNoBytes) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  queue_->write({buffer.get(), 8, 0}, nullptr);
  queue_->make({buffer.get(), 8, 0}, [](std::span<std::byte> made) { EXPECT_TRUE(made.empty()); });
  queue_->read(nullptr, {buffer.get(), 0, 0});
  queue_->copy({buffer.get(), 0, 0}, {buffer.get(), 4, 0});
  EXPECT_EQ(download(*buffer), std::vector<float>({1, 2}));
}

TEST_P(DeviceTest, CopiesAtOffsets) {
  std::unique_ptr<Buffer> from = upload({1, 2, 3, 4, 5}), to = upload({0, 0, 0, 0, 0, 0});
  queue_->copy({to.get(), 12, 8}, {from.get(), 4, 8});
  queue_->copy({to.get(), 0, 4}, {to.get(), 16, 4});
  EXPECT_EQ(download(*to), std::vector<float>({3, 0, 0, 2, 3, 0}));
}

TEST_P(DeviceTest, ATimedQueueTellsWhenLaunchesRan) {
  std::vector<float> x = random_floats(1 << 14);
  std::unique_ptr<Buffer> in = upload(x), out = device_->allocate(bytes_of(x));
  Launch launch = softmax_launch(device_->load(softmax_spec(kItems), {}), 1 << 8, 1 << 6, {whole(*in)}, {whole(*out)});
  auto list = device_->record({launch, launch});
  std::unique_ptr<Queue> timed = device_->create_queue(true);
  auto now = [] { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); };
  const int64_t before = now();
  std::shared_ptr<LaunchTimes> times = timed->run_timed(*list, {});
  timed->finish();
  const int64_t after = now();
  ASSERT_NE(times, nullptr);
  std::vector<LaunchTime> read = times->read();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_LE(before, read[0].begin);
  EXPECT_LT(read[0].begin, read[0].end);
  EXPECT_LE(read[0].end, read[1].begin);
  EXPECT_LT(read[1].begin, read[1].end);
  EXPECT_LE(read[1].end, after);
  expect_near(download(*out), softmax_reference(x, 1 << 6));
  EXPECT_EQ(queue_->run_timed(*list, {}), nullptr);
  queue_->finish();
}

TEST_P(DeviceTest, SoftmaxAtOddSizes) {
  for (int items : {1, kItems}) {
    std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(items), {});
    for (int cols : {1, 31, 33, 77}) {
      std::vector<float> x = random_floats(5 * cols);
      std::unique_ptr<Buffer> in = upload(x), out = device_->allocate(bytes_of(x));
      auto list = device_->record({softmax_launch(kernel, 5, cols, {whole(*in)}, {whole(*out)})});
      queue_->run(*list, {});
      expect_near(download(*out), softmax_reference(x, cols));
    }
  }
}

TEST_P(DeviceTest, ConstantsChangeTheKernel) {
  KernelSpec spec = softmax_spec(kItems);
  spec.constants.push_back({"LOGARITHM", 1});
  std::vector<float> x = random_floats(33), expected = softmax_reference(x, 33);
  for (float& value : expected) value = std::log(value);
  std::unique_ptr<Buffer> in = upload(x), out = device_->allocate(bytes_of(x));
  auto list = device_->record({softmax_launch(device_->load(spec, {}), 1, 33, {whole(*in)}, {whole(*out)})});
  queue_->run(*list, {});
  expect_near(download(*out), expected, 1e-5f);
}

TEST_P(DeviceTest, KernelsWriteTheirRangeOnly) {
  const size_t offset = device_->traits().offset_alignment;
  std::vector<float> x = random_floats(2 * offset / sizeof(float) + 31);
  std::unique_ptr<Buffer> in = upload(x), out = upload(x);
  const BufferRange from{in.get(), offset, 31 * sizeof(float)}, to{out.get(), 2 * offset, 31 * sizeof(float)};
  auto list = device_->record({softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 31, {from}, {to})});
  queue_->run(*list, {});
  const float* first = x.data() + offset / sizeof(float);
  std::vector<float> result = softmax_reference(std::vector<float>(first, first + 31), 31), expected = x;
  std::copy(result.begin(), result.end(), expected.end() - 31);
  expect_near(download(*out), expected);
}

TEST_P(DeviceTest, RangesWithoutBytes) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  const BufferRange none{buffer.get(), 0, 0};
  auto list = device_->record({softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 0, {none}, external(0, 0))});
  queue_->run(*list, std::vector<BufferRange>{none});
  EXPECT_EQ(download(*buffer), std::vector<float>({1, 2}));
}

TEST_P(DeviceTest, LaunchesInOrder) {
  std::vector<float> x = random_floats(33);
  std::unique_ptr<Buffer> a = upload(x), b = device_->allocate(bytes_of(x));
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(kItems), {});
  std::vector<Launch> launches;
  for (int i = 0; i < 3; i++) {
    launches.push_back(softmax_launch(kernel, 1, 33, {whole(i % 2 == 0 ? *a : *b)}, {whole(i % 2 == 0 ? *b : *a)}));
  }
  auto list = device_->record(std::move(launches));
  queue_->run(*list, {});
  for (int i = 0; i < 3; i++) x = softmax_reference(x, 33);
  expect_near(download(*b), x);
}

TEST_P(DeviceTest, LaunchesWithoutBarrier) {
  std::vector<float> x = random_floats(33), y = random_floats(33);
  std::unique_ptr<Buffer> a = upload(x), b = upload(y), c = device_->allocate(bytes_of(x)),
                          d = device_->allocate(bytes_of(x));
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(kItems), {});
  Launch first = softmax_launch(kernel, 1, 33, {whole(*a)}, {whole(*c)});
  Launch second = softmax_launch(kernel, 1, 33, {whole(*b)}, {whole(*d)});
  second.after_barrier = false;
  auto list = device_->record({first, second});
  queue_->run(*list, {});
  expect_near(download(*c), softmax_reference(x, 33));
  expect_near(download(*d), softmax_reference(y, 33));
}

TEST_P(DeviceTest, ReplayWithOtherExternals) {
  const size_t bytes = 33 * sizeof(float);
  auto list = device_->record(
      {softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 33, external(0, bytes), external(1, bytes))});
  for (int turn = 0; turn < 3; turn++) {
    std::vector<float> x = random_floats(33), y = random_floats(33);
    std::unique_ptr<Buffer> a = upload(x), b = upload(y), c = device_->allocate(bytes), d = device_->allocate(bytes);
    for (int i = 0; i < 2; i++) queue_->run(*list, std::vector<BufferRange>{whole(*a), whole(*c)});
    queue_->run(*list, std::vector<BufferRange>{whole(*b), whole(*d)});
    expect_near(download(*c), softmax_reference(x, 33));
    expect_near(download(*d), softmax_reference(y, 33));
  }
}

TEST_P(DeviceTest, ExternalsAtOffsets) {
  const size_t step = device_->traits().offset_alignment, row = step / sizeof(float), bytes = 9 * sizeof(float);
  std::vector<float> x = random_floats(4 * row);
  std::unique_ptr<Buffer> in = upload(x), out = device_->allocate(bytes_of(x));
  auto list = device_->record(
      {softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 9, external(0, bytes, step), external(1, bytes))});
  for (size_t i = 0; i < 3; i++) {
    const BufferRange to{out.get(), i * step, bytes};
    queue_->run(*list, std::vector<BufferRange>{{in.get(), i * step, step + bytes}, to});
    const float* first = x.data() + (i + 1) * row;
    expect_near(download(to), softmax_reference(std::vector<float>(first, first + 9), 9));
  }
}

TEST_P(DeviceTest, MarksWaitForTheWorkBefore) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  std::vector<float> out(2);
  queue_->read(out.data(), whole(*buffer));
  std::shared_ptr<Mark> mark = queue_->mark();
  mark->wait();
  EXPECT_EQ(out, std::vector<float>({1, 2}));
}

TEST_P(DeviceTest, MarksOutliveTheirQueue) {
  std::shared_ptr<Mark> mark = device_->create_queue()->mark();
  queue_->wait_for(*mark);
  queue_->finish();
  mark->wait();
}

TEST_P(DeviceTest, QueuesWaitForEachOther) {
  std::vector<float> x = random_floats(77);
  std::unique_ptr<Buffer> in = device_->allocate(bytes_of(x)), out = device_->allocate(bytes_of(x));
  auto list =
      device_->record({softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 77, {whole(*in)}, {whole(*out)})});
  std::unique_ptr<Queue> copies = device_->create_queue();
  copies->write(whole(*in), x.data());
  queue_->wait_for(*copies->mark());
  queue_->run(*list, {});
  copies->wait_for(*queue_->mark());
  std::vector<float> result(x.size());
  copies->read(result.data(), whole(*out));
  copies->finish();
  expect_near(result, softmax_reference(x, 77));
}

TEST_P(DeviceTest, BuffersMayEndWhileWorkIsQueued) {
  std::vector<float> x = random_floats(1000), result(1000);
  {
    std::unique_ptr<Buffer> a = device_->allocate(bytes_of(x)), b = device_->allocate(bytes_of(x));
    queue_->write(whole(*a), x.data());
    queue_->copy(whole(*b), whole(*a));
    a.reset();
    queue_->read(result.data(), whole(*b));
  }
  std::unique_ptr<Buffer> other = upload(random_floats(1000));
  queue_->finish();
  EXPECT_EQ(result, x);
}

TEST_P(DeviceTest, TheEndOfAQueueWaitsForItsWork) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  std::vector<float> out(2);
  device_->create_queue()->read(out.data(), whole(*buffer));
  EXPECT_EQ(out, std::vector<float>({1, 2}));
}

TEST_P(DeviceTest, KernelsLoadAgain) {
  std::vector<std::byte> binary = device_->load(softmax_spec(kItems), {})->binary();
  ASSERT_FALSE(binary.empty());
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(kItems), binary);
  EXPECT_FALSE(kernel->was_compiled());
  std::vector<float> x = random_floats(33);
  std::unique_ptr<Buffer> in = upload(x), out = device_->allocate(bytes_of(x));
  auto list = device_->record({softmax_launch(kernel, 1, 33, {whole(*in)}, {whole(*out)})});
  queue_->run(*list, {});
  expect_near(download(*out), softmax_reference(x, 33));
}

TEST_P(DeviceTest, WhatDoesNotLoadIsCompiled) {
  const std::vector<std::byte> nothing(100, std::byte{42});
  EXPECT_TRUE(device_->load(softmax_spec(kItems), nothing)->was_compiled());
  EXPECT_TRUE(device_->load(softmax_spec(kItems), {})->was_compiled());
}

TEST_P(DeviceTest, UnknownKernelsAndConstants) {
  EXPECT_TRUE(throws(ErrorKind::kInternal, "kernel nothing", [&] { device_->load({"nothing", {}}, {}); }));
  KernelSpec spec = softmax_spec(kItems);
  spec.constants.push_back({"COLOUR", 1});
  EXPECT_TRUE(throws(ErrorKind::kInternal, "has no constant COLOUR", [&] { device_->load(spec, {}); }));
}

TEST_P(DeviceTest, LaunchesThatDoNotFitTheirKernel) {
  std::unique_ptr<Buffer> buffer = upload(random_floats(200)), out = device_->allocate(800);
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(kItems), {});
  const Launch good = softmax_launch(kernel, 1, 33, {whole(*buffer)}, {whole(*out)});
  auto fails = [&](const std::string& part, Launch launch) {
    return throws(ErrorKind::kInternal, part, [&] { device_->record({std::move(launch)}); });
  };
  Launch launch = good;
  launch.bindings.pop_back();
  EXPECT_TRUE(fails("kernel softmax: 1 buffers are bound, it has 2", launch));
  launch = good;
  launch.bindings.push_back({whole(*out)});
  EXPECT_TRUE(fails("kernel softmax: 3 buffers are bound, it has 2", launch));
  launch = good;
  launch.params.resize(132);
  EXPECT_TRUE(fails("the parameters have 132 bytes", launch));
  launch = good;
  launch.bindings[0].range = {buffer.get(), 4, 132};
  EXPECT_TRUE(fails("offset 4", launch));
  launch = good;
  launch.groups[1] = 0;
  EXPECT_TRUE(fails("it has 0 groups", launch));
}

TEST_P(DeviceTest, RangesOutsideOfTheirBuffer) {
  std::unique_ptr<Buffer> buffer = upload({1, 2, 3, 4});
  std::vector<float> values(4);
  auto fails = [&](auto&& body) { return throws(ErrorKind::kInternal, "outside of their buffer", body); };
  EXPECT_TRUE(fails([&] { queue_->write({buffer.get(), 4, 16}, values.data()); }));
  EXPECT_TRUE(fails([&] { queue_->read(values.data(), {buffer.get(), 17, 0}); }));
  EXPECT_TRUE(fails([&] { queue_->copy({buffer.get(), 12, 8}, {buffer.get(), 0, 8}); }));
  EXPECT_TRUE(fails([&] { queue_->read(values.data(), {nullptr, 0, 4}); }));
  EXPECT_EQ(download(*buffer), std::vector<float>({1, 2, 3, 4}));
}

TEST_P(DeviceTest, ExternalsThatDoNotFit) {
  std::vector<float> x = random_floats(33);
  std::unique_ptr<Buffer> in = upload(x), out = upload(x);
  auto list = device_->record({softmax_launch(device_->load(softmax_spec(kItems), {}), 1, 33, external(0, bytes_of(x)),
                                              external(1, bytes_of(x)))});
  auto fails = [&](const std::string& part, std::vector<BufferRange> externals) {
    return throws(ErrorKind::kInternal, part, [&] { queue_->run(*list, externals); });
  };
  EXPECT_TRUE(fails("external buffer 1", {whole(*in)}));
  EXPECT_TRUE(fails("external buffer 0", {{in.get(), 0, 64}, whole(*out)}));
  std::unique_ptr<Buffer> larger = device_->allocate(2 * bytes_of(x));
  EXPECT_TRUE(fails("at the odd offset 4", {{larger.get(), 4, bytes_of(x)}, whole(*out)}));
  queue_->run(*list, std::vector<BufferRange>{whole(*in), whole(*out)});
  expect_near(download(*out), softmax_reference(x, 33));
}

TEST_P(DeviceTest, ABufferThatIsTooLarge) {
  EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, std::to_string(device_->traits().max_buffer_bytes + 1),
                     [&] { device_->allocate(device_->traits().max_buffer_bytes + 1); }));
  EXPECT_EQ(download(*upload({1, 2})), std::vector<float>({1, 2}));
}

TEST_P(DeviceTest, ThreadsShareADevice) {
  auto work = [&] {
    std::unique_ptr<Queue> queue = device_->create_queue();
    std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(kItems), {});
    const std::vector<float> x(33, 1.0f), expected(33, 1.0f / 33);
    for (int i = 0; i < 20; i++) {
      std::unique_ptr<Buffer> in = device_->allocate(bytes_of(x)), out = device_->allocate(bytes_of(x));
      auto list = device_->record({softmax_launch(kernel, 1, 33, {whole(*in)}, {whole(*out)})});
      std::vector<float> y(x.size());
      queue->write(whole(*in), x.data());
      queue->run(*list, {});
      queue->read(y.data(), whole(*out));
      queue->finish();
      expect_near(y, expected);
    }
  };
  std::jthread other(work);
  work();
}

}  // namespace
}  // namespace ortolan::gpu
