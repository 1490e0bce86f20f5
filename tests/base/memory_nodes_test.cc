// Tests of nodes of memory: what the system says of them, and how loops are parted among them.
#include "base/threads/memory_nodes.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../thrown_text.h"
#include "base/threads/loop_division.h"
#include "base/threads/pooled_loop.h"
#include "pool_options.h"

namespace ortolan::base {
namespace {

namespace fs = std::filesystem;
using Nodes = std::vector<std::vector<int>>;

/** A folder as the system's of nodes, as long as this lives. */
class MadeUpNodes {
 public:
  MadeUpNodes() : root_(fs::temp_directory_path() / ("memory_nodes_test_" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~MadeUpNodes() { fs::remove_all(root_); }
  MadeUpNodes(const MadeUpNodes&) = delete;
  MadeUpNodes& operator=(const MadeUpNodes&) = delete;

  void add(const std::string& name, const std::string& processors) const {
    fs::create_directory(root_ / name);
    std::ofstream(root_ / name / "cpulist") << processors << "\n";
  }
  Nodes read(const std::vector<int>& allowed) const { return memory_nodes(root_.string(), allowed); }

 private:
  fs::path root_;
};

std::vector<int> first_numbers(int count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/** Nodes of unlike sizes: one processor, two, ... */
Nodes growing_nodes(int count) {
  Nodes nodes;
  for (int node = 0, next = 0; node < count; ++node) {
    nodes.emplace_back();
    while (static_cast<int>(nodes.back().size()) <= node) nodes.back().push_back(next++);
  }
  return nodes;
}

TEST(ProcessorList, IsReadAsTheSystemWritesIt) {
  EXPECT_EQ(read_processor_list("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(read_processor_list("17"), std::vector<int>{17});
  EXPECT_EQ(read_processor_list(""), std::vector<int>{});
  for (const char* text : {"x", "3-1", "1-", "-1", "1;2", "1 2", "0-99999999", ",1"}) {
    EXPECT_EQ(read_processor_list(text), std::vector<int>{}) << text;
  }
}

TEST(MemoryNodes, AreThoseWithProcessorsInOrderOfTheirNumbers) {
  MadeUpNodes tree;
  tree.add("node10", "12-13");
  tree.add("node2", "4-7");
  tree.add("node0", "0-3,8-11");
  tree.add("node1", "");     // memory alone
  tree.add("node3x", "14");  // no node
  tree.add("online", "0-100");
  EXPECT_EQ(tree.read(first_numbers(16)), (Nodes{{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7}, {12, 13}}));
}

TEST(MemoryNodes, HaveOnlyWhatTheProcessMayUse) {
  MadeUpNodes tree;
  tree.add("node0", "0-3");
  tree.add("node1", "4-7");
  tree.add("node2", "8-11");
  EXPECT_EQ(tree.read({1, 3, 8}), (Nodes{{1, 3}, {8}}));
  EXPECT_EQ(tree.read({}), Nodes{});
}

TEST(MemoryNodes, AreNoneWhereTheSystemTellsOfNone) {
  EXPECT_EQ(memory_nodes("/nowhere/node", {0, 1}), Nodes{});
  MadeUpNodes tree;
  EXPECT_EQ(tree.read({0}), Nodes{});
}

TEST(NodesOfThreads, AreInProportionToTheirProcessors) {
  for (int count = 1; count <= 8; ++count) {
    const Nodes nodes = growing_nodes(count);
    const int processors = count * (count + 1) / 2;
    for (int threads = 1; threads <= 128; ++threads) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << count << " nodes");
      const std::vector<int> of_threads = nodes_of_threads(nodes, threads);
      ASSERT_EQ(of_threads.size(), static_cast<size_t>(threads));
      EXPECT_TRUE(std::is_sorted(of_threads.begin(), of_threads.end()));
      for (int node = 0; node < count; ++node) {
        const auto there = static_cast<double>(std::count(of_threads.begin(), of_threads.end(), node));
        EXPECT_NEAR(there, double(threads) * (node + 1) / processors, 1);
      }
    }
  }
}

TEST(PartEnd, PartsALoopInProportionAtWholeChunks) {
  for (int threads = 1; threads <= 128; ++threads) {
    for (int nodes = 1; nodes <= 8; ++nodes) {
      for (int64_t count : {int64_t{1}, int64_t{7}, int64_t{1000}, int64_t{1000003}, INT64_MAX}) {
        for (int64_t chunk : {1, 3, 64}) {
          SCOPED_TRACE(testing::Message()
                       << threads << " threads, " << nodes << " nodes, " << count << " by " << chunk);
          int64_t before = 0;
          for (int node = 1; node <= nodes; ++node) {
            const int so_far = threads * node / nodes;
            const int64_t end = part_end(count, chunk, so_far, threads);
            EXPECT_GE(end, before);
            if (so_far < threads) {
              EXPECT_EQ(end % chunk, 0);
              const double wanted = double(count) * so_far / threads;
              EXPECT_NEAR(double(end), wanted, double(chunk) + wanted * 1e-9);
            }
            before = end;
          }
          EXPECT_EQ(before, count);
        }
      }
    }
  }
}

/** The first items of the ranges that a thread of that part takes when it is alone, in its order. */
std::vector<int64_t> order_of(int part) {
  PooledLoop loop;
  loop.set_parts({1, 2, 1});
  std::vector<int64_t> begins;
  auto note = [](void* context, int64_t begin, int64_t) {
    static_cast<std::vector<int64_t>*>(context)->push_back(begin);
  };
  EXPECT_TRUE(loop.take());
  loop.open(40, 1, 5, {note, &begins}, 1);
  loop.work_as_caller(part);
  EXPECT_FALSE(loop.wants_help());
  EXPECT_EQ(loop.close(), nullptr);
  return begins;
}

TEST(PooledLoop, GivesAThreadItsOwnPartFirst) {
  EXPECT_EQ(order_of(0), (std::vector<int64_t>{0, 5, 10, 15, 20, 25, 30, 35}));
  EXPECT_EQ(order_of(1), (std::vector<int64_t>{10, 15, 20, 25, 30, 35, 0, 5}));
  EXPECT_EQ(order_of(2), (std::vector<int64_t>{30, 35, 0, 5, 10, 15, 20, 25}));
}

ThreadPool::Options on_nodes(int count, Nodes nodes) {
  ThreadPool::Options options = threads(count);
  options.nodes = std::move(nodes);
  return options;
}

TEST(ThreadPool, CoversEachItemOnceOnAnyNodes) {
  for (int nodes : {2, 3, 8, 9}) {
    for (int count : {1, 2, 5, 20}) {
      ThreadPool pool(on_nodes(count, growing_nodes(nodes)));
      for (int64_t items : {1, 2, 17, 1000}) {
        std::vector<std::atomic<int>> visits(items);
        pool.parallel_for(items, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[i];
        });
        for (const auto& visited : visits) EXPECT_EQ(visited, 1) << nodes << " nodes, " << count << " threads";
      }
      std::atomic<bool> ran{false};
      pool.schedule([&] { ran = true; });
      while (!ran) sched_yield();
    }
  }
}

TEST(ThreadPool, AFailureEndsTheLoopOnAllNodes) {
  ThreadPool pool(on_nodes(3, growing_nodes(3)));
  std::atomic<int> ranges{0};
  auto fail = [&](int64_t, int64_t) {
    ++ranges;
    throw std::runtime_error("it failed");
  };
  EXPECT_TRUE(test::throws<std::runtime_error>("it failed", [&] { pool.parallel_for(3000, 1, fail); }));
  EXPECT_LE(ranges, 3);
}

TEST(ThreadPool, PinsWorkersToTheirNodes) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  Nodes nodes;
  for (int processor = 0; processor < CPU_SETSIZE && nodes.size() < 2; ++processor) {
    if (CPU_ISSET(processor, &all)) nodes.push_back({processor});
  }
  if (nodes.size() < 2) GTEST_SKIP() << "there is one processor";
  ThreadPool pool(on_nodes(2, nodes));
  std::atomic<bool> ran{false};
  cpu_set_t of_worker;
  pool.schedule([&] {
    sched_getaffinity(0, sizeof of_worker, &of_worker);
    ran = true;
  });
  while (!ran) sched_yield();
  EXPECT_EQ(CPU_COUNT(&of_worker), 1);
  EXPECT_TRUE(CPU_ISSET(nodes[1][0], &of_worker));
}

}  // namespace
}  // namespace ortolan::base
