// What a caller may set before a session is made, and for one run.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads/thread_pool.h"
#include "runtime/kernels/custom_operator.h"
#include "runtime/providers/provider_factory.h"
#include "tensor/value.h"

namespace ortolan::tensor {
class Stream;
}

namespace ortolan::runtime {

enum class ExecutionMode : int { kSequential = 0, kParallel = 1 };

/** Graph rewrite levels; numbers are those of GraphOptimizationLevel. */
enum class RewriteLevel : int { kNone = 0, kBasic = 1, kExtended = 2, kLayout = 3, kAll = 99 };

struct SessionOptions {
  std::map<std::string, std::string> config;
  ExecutionMode mode = ExecutionMode::kSequential;
  RewriteLevel level = RewriteLevel::kAll;
  std::string optimized_model_path;  // empty: not saved
  bool profile = false;
  std::string profile_prefix;
  bool cpu_arena = true;
  bool memory_pattern = true;
  bool use_global_threads = false;
  int intra_op_threads = 0;  // 0: as many as the machine allows
  int inter_op_threads = 0;
  ThreadPool::Options thread_hooks;  // custom thread creation, affinity; the count above wins
  bool deterministic = false;
  std::string log_id;
  int log_severity = -1;  // -1: the environment's
  int log_verbosity = 0;
  std::shared_ptr<LogSink> log_sink;  // NULL: the environment's
  std::map<std::string, int64_t> dimensions_by_name;
  std::map<std::string, int64_t> dimensions_by_denotation;
  std::map<std::string, Value> initializers;           // replace those of the model with that name
  std::map<std::string, Value> external_initializers;  // likewise, for initializers whose data are external
  std::map<std::string, std::span<const std::byte>> external_files;  // by file name, in place of files
  bool replace_compiled_model = false;                               // the file of ep.context_file_path may be there
  std::span<const std::byte> weightless_source;  // the model that a compiled one without weights was made from
  /** Gives the data of a compiled node that a model names instead of holding; empty: they are in files. */
  std::function<std::string(const std::string& name)> read_context_data;
  std::vector<ProviderRequest> providers;  // in priority order; the CPU need not be among them
  SelectProviders select_providers;        // used where `providers` is empty; may be empty too
  std::vector<std::shared_ptr<const CustomOperator>> custom_operators;
  std::vector<std::shared_ptr<void>> libraries;  // of custom operators, kept loaded
  std::shared_ptr<std::atomic<bool>> cancel_load = std::make_shared<std::atomic<bool>>(false);  // seen while loading

  /** The config entry, or `fallback`. */
  std::string_view config_or(std::string_view key, std::string_view fallback) const;
};

struct RunOptions {
  std::map<std::string, std::string> config;
  std::string tag;
  int log_severity = -1;
  int log_verbosity = 0;
  std::atomic<bool> terminate{false};
  bool synchronize = true;   // a run ends when all devices are done
  Stream* stream = nullptr;  // the caller's queue for its device, in place of the run's own
  bool profile = false;      // write a profile of this run alone
  std::string profile_prefix;
  std::vector<std::span<const std::pair<std::string, Value>>>
      extra_inputs;  // by name; later ones win over the caller's
};

}  // namespace ortolan::runtime
