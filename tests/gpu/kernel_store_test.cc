// Files of compiled kernels: damage, other keys, several writers.
#include "gpu/core/kernel_store.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <chrono>

#include <fstream>
#include <thread>

#include "gpu/core/engine.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu {
namespace {

namespace fs = std::filesystem;

class KernelStoreTest : public testing::Test {
 protected:
  KernelStoreTest() : folder_(fs::path(testing::TempDir()) / ("kernels." + std::to_string(getpid()))) {}
  ~KernelStoreTest() override { fs::remove_all(folder_); }

  std::vector<std::byte> bytes(size_t size, int first) const {
    std::vector<std::byte> result(size);
    for (size_t i = 0; i < size; i++) result[i] = static_cast<std::byte>(first + i);
    return result;
  }
  fs::path only_file() const { return *fs::directory_iterator(folder_); }
  size_t file_count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(KernelStoreTest, GivesBackWhatWasWrittenLast) {
  KernelStore store(folder_ / "below");
  EXPECT_TRUE(store.read("k").empty());
  store.write("k", bytes(1000, 1));
  EXPECT_EQ(store.read("k"), bytes(1000, 1));
  store.write("k", bytes(10, 2));
  EXPECT_EQ(store.read("k"), bytes(10, 2));
  EXPECT_TRUE(store.read("another").empty());
}

TEST_F(KernelStoreTest, EveryChangedByteAndEveryCutIsSeen) {
  KernelStore store(folder_);
  store.write("key", bytes(40, 7));
  std::ifstream file(only_file(), std::ios::binary);
  std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (size_t i = 0; i < whole.size(); i++) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    std::ofstream(only_file(), std::ios::binary) << changed;
    EXPECT_TRUE(store.read("key").empty()) << "byte " << i;
    std::ofstream(only_file(), std::ios::binary) << whole.substr(0, i);
    EXPECT_TRUE(store.read("key").empty()) << "cut at " << i;
  }
  std::ofstream(only_file(), std::ios::binary) << whole << 'x';
  EXPECT_TRUE(store.read("key").empty());
  store.write("key", bytes(40, 7));
  EXPECT_EQ(store.read("key"), bytes(40, 7));
}

TEST_F(KernelStoreTest, WritersLeaveWholeFilesAndNothingElse) {
  KernelStore store(folder_);
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; i++) {
    writers.emplace_back([&, i] {
      for (int turn = 0; turn < 50; turn++) {
        store.write("k", bytes(5000, i));
        EXPECT_EQ(store.read("k").size(), 5000u);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(KernelStoreTest, AFolderThatCannotBeMadeIsNoError) {
  std::ofstream(folder_) << "a file";
  KernelStore store(folder_ / "below");
  store.write("k", bytes(10, 1));
  EXPECT_TRUE(store.read("k").empty());
  KernelStore none({});
  none.write("k", bytes(10, 1));
  EXPECT_TRUE(none.read("k").empty());
}

TEST_F(KernelStoreTest, WhatOneEngineCompiledTheNextLoads) {
  const KernelSpec spec{"copy", {{"WGX", 64}, {"WGY", 1}, {"BYTES", 4}}};
  {
    test::TestDevice device({});
    Engine engine(device, folder_);
    engine.kernels().get(spec);
    engine.kernels().get(spec);
    EXPECT_EQ(device.compiled(), 1);
    engine.kernels().after_run();  // this run compiled
    EXPECT_FALSE(fs::exists(folder_));
    engine.kernels().store_compiled();
    EXPECT_EQ(file_count(), 1u);
  }
  test::TestDevice device({});
  Engine(device, folder_).kernels().get(spec);
  EXPECT_EQ(device.compiled(), 0);
  EXPECT_EQ(device.loaded(), 1);
  std::ofstream(only_file(), std::ios::binary) << "damaged";
  Engine engine(device, folder_);
  engine.kernels().get(spec);
  engine.kernels().store_compiled();
  EXPECT_EQ(device.compiled(), 1);
  Engine(device, folder_).kernels().get(spec);
  EXPECT_EQ(device.loaded(), 2);
}

TEST_F(KernelStoreTest, WhatALaterRunCompilesIsStoredToo) {
  test::TestDevice device({});
  Engine engine(device, folder_);
  fs::create_directories(folder_);
  for (int bytes : {1, 4}) {
    const size_t before = file_count();
    engine.kernels().get({"copy", {{"WGX", 64}, {"WGY", 1}, {"BYTES", bytes}}});
    for (int run = 0; run < 500 && file_count() == before; run++) {
      engine.kernels().after_run();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(file_count(), before + 1) << "BYTES=" << bytes;
  }
}

}  // namespace
}  // namespace ortolan::gpu
