// Runs nodes that are likely wrong, under limits of memory and time.
#include "hostile_run.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "run_watch.h"

/** Called by the sanitisers, where the program has them, before it ends. */
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace ortolan::test {
namespace {

using Clock = std::chrono::steady_clock;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSlower = 10;
#else
constexpr int64_t kSlower = 1;
#endif
constexpr const char* kMaxTensorBytes = "16777216";

std::atomic<const HostileNode*> running{nullptr};

void tell_what_runs() {
  const HostileNode* hostile = running.exchange(nullptr);
  if (hostile) std::fprintf(stderr, "HOSTILE NODE %s\n", describe(*hostile).c_str());
}

void on_signal(int number) {
  tell_what_runs();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void watch_for_crashes() {
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_what_runs);
  std::signal(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback) return;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, on_signal);
}

struct Attempt {
  const char* name;
  Way way;
  RewriteLevel level;
  int threads;
};
constexpr Attempt kAttempts[] = {{"known shapes", Way::kKnownShapes, RewriteLevel::kNone, 1},
                                 {"unknown shapes", Way::kUnknownShapes, RewriteLevel::kNone, 2},
                                 {"constants", Way::kConstants, RewriteLevel::kNone, 1},
                                 {"rewritten", Way::kKnownShapes, RewriteLevel::kAll, 1},
                                 {"rewritten constants", Way::kConstants, RewriteLevel::kAll, 1}};

struct Outcome {
  bool ran = false;
  bool stopped = false;  // by the watch, or for want of memory: says nothing
  std::string error;
  std::vector<Value> results;
  double seconds = 0;
};

/** Fills new memory with other bytes in each attempt, so that what is read before it is written differs. */
void perturb_memory(const Attempt& how) {
#ifdef __GLIBC__
  mallopt(M_PERTURB, 1 + 37 * static_cast<int>(&how - kAttempts));
#endif
}

Outcome attempt(const HostileNode& hostile, const Attempt& how) {
  Outcome outcome;
  perturb_memory(how);
  SessionOptions options;
  RunOptions run_options;
  options.level = how.level;
  options.intra_op_threads = how.threads;
  options.cpu_arena = false;
  options.config["ortolan.max_tensor_bytes"] = kMaxTensorBytes;
  auto start = Clock::now();
  RunWatch::instance().begin(&run_options, options.cancel_load.get());
  try {
    outcome.results = run_node(hostile.node, how.way, hostile.output_count, options, &run_options);
    outcome.ran = true;
  } catch (const Error& error) {
    outcome.error = error.text();
    EXPECT_NE(error.code(), ErrorCode::kRuntimeException) << error.text() << "\n" << describe(hostile);
    outcome.stopped = outcome.error.find("out of memory") != std::string::npos;
  } catch (const std::bad_alloc&) {
    outcome.stopped = true;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an exception that is no Error: " << error.what() << "\n" << describe(hostile);
  }
  RunWatch::instance().end();
  outcome.stopped |= run_options.terminate || *options.cancel_load;
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

/** Rewriting may change the order of sums: floats need only be close. */
bool close(const Value& a, const Value& b) {
  if (same_value(a, b)) return true;
  if (!a.is_tensor() || !b.is_tensor() || a.tensor().type() != b.tensor().type()) return false;
  if (!kFloatTypes.contains(a.tensor().type())) return false;
  double tolerance = kHalfTypes.contains(a.tensor().type()) ? 2e-2 : 1e-4;
  return static_cast<bool>(near(a.tensor(), b.tensor().shape(), doubles(b.tensor()), tolerance));
}

void compare(const HostileNode& hostile, const Attempt& how, const Outcome& first, const Outcome& other) {
  if (first.stopped || other.stopped) return;
  static const bool strict = std::getenv("ORTOLAN_HOSTILE_STRICT") != nullptr;
  if (first.ran != other.ran && !strict) return;
  if (first.ran != other.ran) {
    ADD_FAILURE() << how.name << ": " << (other.ran ? "runs" : other.error)
                  << "\nbut first: " << (first.ran ? "runs" : first.error) << "\n"
                  << describe(hostile);
    return;
  }
  if (!first.ran || !hostile.deterministic) return;
  for (size_t i = 0; i < first.results.size(); ++i) {
    const Value &a = first.results[i], &b = other.results[i];
    bool same = how.level == RewriteLevel::kNone ? static_cast<bool>(same_value(a, b)) : close(a, b);
    if (!same) {
      ADD_FAILURE() << how.name << ": output " << i << " is " << describe(b) << "\nbut first " << describe(a) << "\n"
                    << describe(hostile);
    }
  }
}

void append_attribute(std::string& text, const Attribute& attribute) {
  base::append(text, join("\n  attribute ", attribute.name, " ="));
  auto each = [&](const auto& list) {
    for (const auto& item : list) base::append(text, join(" ", item));
  };
  if (auto* one = std::get_if<int64_t>(&attribute.value)) base::append(text, join(" ", *one));
  if (auto* one = std::get_if<float>(&attribute.value)) base::append(text, join(" ", *one, "f"));
  if (auto* one = std::get_if<std::string>(&attribute.value)) base::append(text, join(" '", *one, "'"));
  if (auto* one = std::get_if<Tensor>(&attribute.value)) base::append(text, join(" ", describe(Value(*one))));
  if (auto* list = std::get_if<std::vector<int64_t>>(&attribute.value)) text += " ints", each(*list);
  if (auto* list = std::get_if<std::vector<float>>(&attribute.value)) text += " floats", each(*list);
  if (auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) text += " strings", each(*list);
}

double number_from(const char* variable, double fallback) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtod(text, nullptr) : fallback;
}

}  // namespace

std::string describe(const HostileNode& hostile) {
  const NodeCase& node = hostile.node;
  std::string text = join("seed ", hostile.seed, ": ", node.domain, ":", node.op, " of opset ", node.opset, ", ",
                          hostile.output_count, " outputs");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    base::append(text, join("\n  input ", i, ": ", node.inputs[i] ? describe(*node.inputs[i]) : "left out"));
  }
  for (const Attribute& attribute : node.attributes) append_attribute(text, attribute);
  for (const auto& [name, fill] : node.subgraphs) base::append(text, join("\n  graph ", name));
  return text;
}

bool run_hostile(const HostileNode& hostile) {
  [[maybe_unused]] static const bool watched = (watch_for_crashes(), true);
  running = &hostile;
  Outcome first = attempt(hostile, kAttempts[0]);
  double seconds = first.seconds;
  for (size_t i = 1; i < std::size(kAttempts); ++i) {
    Outcome other = attempt(hostile, kAttempts[i]);
    compare(hostile, kAttempts[i], first, other);
    seconds += other.seconds;
  }
  static const double slow = number_from("ORTOLAN_HOSTILE_SLOW", 1e9);
  if (seconds > slow) std::fprintf(stderr, "SLOW %.2f s: %s\n", seconds, describe(hostile).c_str());
  running = nullptr;
  return first.ran;
}

void report_hostile(const char* kind, int64_t ran, int64_t drawn) {
  std::printf("%ld of %ld %s ran\n", static_cast<long>(ran), static_cast<long>(drawn), kind);
  constexpr int64_t kMany = 1000, kShare = 20;
  if (drawn >= kMany) {
    EXPECT_GE(ran * kShare, drawn) << kind;
  }
}

HostileTurns::HostileTurns(int64_t count)
    : left_(static_cast<int64_t>(number_from("ORTOLAN_HOSTILE_COUNT", static_cast<double>(count / kSlower)))) {
  std::chrono::duration<double> seconds(number_from("ORTOLAN_HOSTILE_SECONDS", 0));
  if (seconds.count() > 0) end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
}

bool HostileTurns::next() { return end_ ? Clock::now() < *end_ : left_-- > 0; }

}  // namespace ortolan::test
