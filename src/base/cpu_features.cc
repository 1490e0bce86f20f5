// Detects the instruction set level, cache sizes and usable thread count.
#include "base/cpu_features.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/threads/processor_count.h"

namespace ortolan::base {
namespace {

constinit std::atomic<int> pretended_processors = 0;

int64_t cache_bytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

CpuFeatures detect() {
  CpuFeatures features{};
  const IsaLevel wanted = named_isa(std::getenv("ORTOLAN_CPU_ISA"));
  features.detected = detect_isa(wanted);
  for (const NamedIsaLevel& one : isa_levels()) {
    if (one.level <= wanted && has_isa(one.level, features.detected)) features.isa = one.level;
  }
  features.streaming_bytes = streaming_bytes(features.detected);
  features.l1d_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  features.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  features.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20);
  return features;
}

bool read_line(const std::string& path, char* line, int size) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const bool ok = std::fgets(line, size, file) != nullptr;
  std::fclose(file);
  return ok;
}

// The CPU share that one cgroup directory grants, or 0 for no limit.
double directory_quota(const std::string& directory) {
  char line[128];
  double quota = 0, period = 0;
  if (read_line(directory + "/cpu.max", line, sizeof line)) {
    if (std::sscanf(line, "%lf %lf", &quota, &period) != 2) return 0;
  } else if (read_line(directory + "/cpu.cfs_quota_us", line, sizeof line)) {
    quota = std::atof(line);
    if (!read_line(directory + "/cpu.cfs_period_us", line, sizeof line)) return 0;
    period = std::atof(line);
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The least quota from the process's cgroup up to the root of the hierarchy mounted at `root`.
double hierarchy_quota(const std::string& root, std::string path) {
  double least = 0;
  for (int depth = 0; depth < 64; ++depth) {
    const double quota = directory_quota(root + path);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    const size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) break;
    path.resize(slash);
  }
  return least;
}

double cgroup_quota() {
  std::FILE* file = std::fopen("/proc/self/cgroup", "re");
  if (file == nullptr) return 0;
  char line[4096];
  double least = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    line[std::strcspn(line, "\n")] = 0;
    const char* controllers = std::strchr(line, ':');
    const char* path = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (path == nullptr) continue;
    const std::string names(controllers + 1, path);
    double quota = 0;
    if (names.empty()) {
      quota = hierarchy_quota("/sys/fs/cgroup", path + 1);
    } else if (("," + names + ",").find(",cpu,") != std::string::npos) {
      quota = hierarchy_quota("/sys/fs/cgroup/cpu", path + 1);
    }
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  std::fclose(file);
  return least;
}

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &mask)) processors.push_back(i);
    }
  } else {
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) processors.push_back(static_cast<int>(i));
  }
  return processors;
}

/** The first processor of the core of that one, or itself where the system does not say. */
int core_of(int processor) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
  int first = processor;
  if (std::FILE* file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%d", &first) != 1) first = processor;
    std::fclose(file);
  }
  return first;
}

const ProcessorShare& processor_share() {
  static const ProcessorShare share = [] {
    const std::vector<int> processors = allowed_processors();
    std::vector<int> cores;
    for (int processor : processors) cores.push_back(core_of(processor));
    return ProcessorShare{static_cast<int>(processors.size()), count_cores(cores), cgroup_quota()};
  }();
  return share;
}

}  // namespace

const CpuFeatures& cpu_features() noexcept {
  static const CpuFeatures features = detect();
  return features;
}

int count_cores(std::vector<int> cores) noexcept {
  std::ranges::sort(cores);
  return static_cast<int>(std::ranges::unique(cores).begin() - cores.begin());
}

int thread_limit(const ProcessorShare& share, const char* asked) noexcept {
  const int most = share.quota > 0 ? static_cast<int>(share.quota) : share.processors;
  char* end = nullptr;
  const long wanted = asked != nullptr ? std::strtol(asked, &end, 10) : 0;
  const bool is_number = end != asked && end != nullptr && (*end == 0 || *end == ',' || *end == ' ');
  const int by_default = std::min(share.cores, most), by_wish = std::min(share.processors, most);
  return std::max(1, is_number && wanted > 0 ? static_cast<int>(std::min<long>(wanted, by_wish)) : by_default);
}

PretendedProcessors::PretendedProcessors(int count) noexcept : before_(pretended_processors.exchange(count)) {}
PretendedProcessors::~PretendedProcessors() { pretended_processors.store(before_); }

int processors_at_once() noexcept {
  if (const int pretended = pretended_processors.load(std::memory_order_relaxed); pretended > 0) return pretended;
  const ProcessorShare& share = processor_share();
  const int quota = share.quota > 0 ? static_cast<int>(std::ceil(share.quota)) : share.processors;
  return std::max(1, std::min(share.processors, quota));
}

int available_threads() noexcept {
  static const int threads = thread_limit(processor_share(), std::getenv("OMP_NUM_THREADS"));
  return threads;
}

}  // namespace ortolan::base
