// Sessions on a GPU provider that come and go, and the cache that they share with other processes: nothing grows, and
// what is damaged is made anew.
#include <sys/wait.h>
#include <unistd.h>
#include <functional>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "../../soak/level.h"
#include "tested_provider.h"

namespace {

namespace fs = std::filesystem;

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/** A number for what is in a file, by its path. */
using Files = std::map<fs::path, size_t>;

class Sessions : public ::testing::Test {
 protected:
  Sessions() {
    if (const char* given = std::getenv("ORTOLAN_TESTED_CACHE")) {
      folder_ = given;
    } else {
      folder_ = fs::path(::testing::TempDir()) / ("gpu_sessions." + std::to_string(getpid()));
      owns_folder_ = true;
    }
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    wanted_ = run(Provider().cpu_session());
  }
  ~Sessions() override {
    if (owns_folder_) fs::remove_all(folder_);
  }

  void expect_right(OrtSession* session) {
    std::vector<float> got = run(session);
    ASSERT_EQ(got.size(), wanted_.size());
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], wanted_[i], 1e-4f);
  }
  Files files() const {
    Files found;
    if (!fs::exists(folder_)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) found[entry.path()] = std::hash<std::string>()(content_of(entry.path()));
    }
    return found;
  }
  /** Uses the provider until its cache stays as it is: kernels are written behind the runs. */
  void fill_cache() {
    Files before;
    do {
      before = files();
      Provider provider;
      Session session = provider.session();
      for (int i = 0; i < 3; i++) expect_right(session);
      wait_while_it_changes();
    } while (files() != before);
    EXPECT_FALSE(before.empty());
  }
  void wait_while_it_changes() const {
    Files before = files();
    for (int same = 0; same < 5; same++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Files now = files();
      if (now != before) same = 0;
      before = std::move(now);
    }
  }
  /** Starts this program on the same cache, for one test. */
  pid_t start(const char* test) const {
    const std::string filter = std::string("--gtest_filter=") + test;
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("ORTOLAN_TESTED_CACHE", folder_.c_str(), 1);
    execl("/proc/self/exe", "gpu_sessions_test", filter.c_str(), nullptr);
    _exit(127);
  }
  static int end_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }

  fs::path folder_;
  bool owns_folder_ = false;
  std::vector<float> wanted_;
};

TEST_F(Sessions, TwoHundredLeaveNothingBehind) {
  fill_cache();
  Provider provider;
  auto use = [&](int count) {
    for (int i = 0; i < count; i++) expect_right(provider.session());
  };
  use(20);
  const Files cache = files();
  const size_t memory = soak::resident_bytes(), descriptors = open_descriptors();
  use(200);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(files(), cache);
  if (std::string(ORTOLAN_SANITIZE).empty()) {  // sanitizers keep what was freed
    EXPECT_LE(soak::resident_bytes(), memory + (size_t{8} << 20));
  }
}

TEST_F(Sessions, ADamagedCacheIsMadeAnew) {
  fill_cache();
  const Files whole = files();
  int number = 0;
  for (const auto& [path, content] : whole) {
    std::string bytes = content_of(path);
    if (number++ % 2 == 0) {
      bytes.resize(bytes.size() / 2);
    } else {
      bytes[bytes.size() / 2] ^= 1;
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
  const Files damaged = files();
  fill_cache();
  const Files mended = files();
  EXPECT_EQ(mended.size(), whole.size());
  for (const auto& [path, content] : damaged) EXPECT_TRUE(mended.contains(path) && mended.at(path) != content);
}

TEST_F(Sessions, AFullCacheIsLeftAsItIs) {
  fill_cache();
  auto times = [&] {
    std::map<fs::path, fs::file_time_type> found;
    for (const auto& [path, content] : files()) found[path] = fs::last_write_time(path);
    return found;
  };
  const auto before = times();
  fill_cache();
  EXPECT_EQ(times(), before);
}

TEST_F(Sessions, FillACache) { fill_cache(); }

TEST_F(Sessions, ProcessesShareACache) {
  const pid_t first = start("Sessions.FillACache"), second = start("Sessions.FillACache");
  EXPECT_EQ(end_of(first), 0);
  EXPECT_EQ(end_of(second), 0);
  fill_cache();
  for (const auto& [path, content] : files()) {
    EXPECT_EQ(path.filename().string().find_first_not_of("0123456789abcdef"), std::string::npos) << path;
  }
}

}  // namespace
