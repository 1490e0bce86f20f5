// Runs nodes in pools of several sizes, at several instruction sets.
#include "thread_counts.h"

#include <atomic>
#include <map>

#include "base/cpu_features.h"
#include "base/threads/work_callbacks.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::test {
namespace {

std::atomic<int64_t> shared_pieces{0};

/** An environment whose sessions share a pool of so many threads, which counts in shared_pieces. */
std::shared_ptr<Environment> with_threads(int threads) {
  auto made = std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning));
  WorkCallbacks count;
  count.enqueue = [](void*) -> void* {
    shared_pieces.fetch_add(1);
    return nullptr;
  };
  ScopedWorkCallbacks scope(count);
  ThreadingOptions pools;
  pools.intra.threads = threads, pools.inter.threads = 1;
  pools.intra.allow_spinning = false;
  made->create_global_pools(pools);
  return made;
}

std::vector<Value> run_with(int threads, const OpTest& test, Way way, size_t output_count) {
  static auto& environments = *new std::map<int, std::shared_ptr<Environment>>;
  auto& environment = environments[threads];
  if (!environment) environment = with_threads(threads);
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  options.use_global_threads = true;
  return run_node(test.node(), way, output_count, options, nullptr, environment);
}

void expect_same(const OpTest& test, Way way, size_t output_count) {
  auto alone = run_with(1, test, way, output_count);
  for (int threads : {2, 16, 64}) {
    SCOPED_TRACE(join(threads, " threads, ", way == Way::kConstants ? "constants" : "inputs"));
    auto shared = run_with(threads, test, way, output_count);
    for (size_t i = 0; i < output_count; ++i) EXPECT_TRUE(same_value(shared[i], alone[i])) << "output " << i;
  }
}

}  // namespace

void expect_same_on_any_threads(const std::string& name, const OpTest& test, size_t output_count) {
  const int64_t before = shared_pieces.load();
  for (const cpu::kernels::KernelTable& table : cpu::kernels::kernel_tables()) {
    if (table.split_f32 != nullptr || !cpu::kernels::use_isa(table.isa)) continue;  // tiles have tests of their own
    SCOPED_TRACE(join(name, ", ", base::isa_name(table.isa)));
    for (Way way : {Way::kUnknownShapes, Way::kConstants}) expect_same(test, way, output_count);
  }
  cpu::kernels::use_isa(base::cpu_features().isa);
  EXPECT_GT(shared_pieces.load(), before) << name << ": no loop was shared; give it more work";
}

}  // namespace ortolan::test
