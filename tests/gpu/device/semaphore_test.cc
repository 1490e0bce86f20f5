// Semaphores of others: queues wait for them and raise them.
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "gpu/testdevice/number_in_file.h"
#include "tested_device.h"

namespace ortolan::gpu {
namespace {

/** A file in memory with a number, which stands for what another API exports. */
class ExportedNumber {
 public:
  ExportedNumber() : file_(memfd_create("semaphore", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_, sizeof(uint64_t)), 0);
    number_.emplace(file_);
  }
  ~ExportedNumber() { close(file_); }
  ExportedNumber(const ExportedNumber&) = delete;
  ExportedNumber& operator=(const ExportedNumber&) = delete;
  int file() const { return file_; }
  test::NumberInFile& number() { return *number_; }

 private:
  const int file_;
  std::optional<test::NumberInFile> number_;
};

class SemaphoreTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device_->imports_semaphores()) GTEST_SKIP() << "the device imports no semaphores";
  }
};

TEST_P(SemaphoreTest, WorkWaitsForTheNumber) {
  ExportedNumber exported;
  auto from = upload({1, 2}), to = upload({0, 0});
  std::shared_ptr<Semaphore> semaphore = device_->import_semaphore(exported.file());
  auto writer = device_->create_queue();
  queue_->wait_for(semaphore, 2);
  queue_->copy(whole(*to), whole(*from));
  exported.number().raise(1);
  semaphore.reset();
  std::thread waiting([&] { queue_->finish(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const float values[] = {7, 8};
  writer->write(whole(*from), values);
  writer->finish();
  exported.number().raise(2);
  waiting.join();
  EXPECT_EQ(download(*to), std::vector<float>({7, 8}));
}

TEST_P(SemaphoreTest, WorkRaisesTheNumberForOthersAndForQueues) {
  ExportedNumber exported;
  auto from = upload({3, 4}), to = upload({0, 0});
  std::shared_ptr<Semaphore> semaphore = device_->import_semaphore(exported.file());
  auto other = device_->create_queue();
  other->wait_for(semaphore, 5);
  other->copy(whole(*to), whole(*from));
  const float values[] = {5, 6};
  queue_->write(whole(*from), values);
  queue_->raise(semaphore, 5);
  queue_->finish();
  EXPECT_EQ(exported.number().value(), 5u);
  other->finish();
  EXPECT_EQ(download(*to), std::vector<float>({5, 6}));
}

TEST_P(SemaphoreTest, DescriptorsOfNothingAreRefused) {
  for (int file : {-1, 987654}) {
    EXPECT_TRUE(
        throws(ErrorKind::kInvalid, "descriptor " + std::to_string(file), [&] { device_->import_semaphore(file); }));
  }
}

TEST_P(SemaphoreTest, DescriptorsStayTheCallers) {
  ExportedNumber exported;
  const int before = dup(exported.file());
  close(before);
  for (int i = 0; i < 3; i++) device_->import_semaphore(exported.file());
  const int after = dup(exported.file());
  EXPECT_EQ(after, before) << "descriptors stay open, or the caller's was closed";
  close(after);
}

INSTANTIATE_TEST_SUITE_P(Devices, SemaphoreTest, ::testing::ValuesIn(tested_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu
