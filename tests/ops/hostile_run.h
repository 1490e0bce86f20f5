// Runs nodes that are likely wrong: in each way a session may run them, under limits of memory and time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "op_test.h"

namespace ortolan::test {

/** How a hostile node is told, in a report or after a crash: its text, and the seed that draws it again. */
struct HostileNode {
  NodeCase node;
  size_t output_count = 1;
  bool deterministic = true;
  uint32_t seed = 0;
};

std::string describe(const HostileNode& hostile);

/** Runs it in all ways and at both ends of the rewrite levels: each must end in the same results or in an Error (with
    ORTOLAN_HOSTILE_STRICT, all of them or none in an Error). What is not so, and a run that does not end, is a test
    failure with the node's description; a crash prints that description to stderr. Returns whether the node ran. */
bool run_hostile(const HostileNode& hostile);

/** Prints how many of the nodes drawn ran, and fails where hardly any of many did: errors alone prove little. */
void report_hostile(const char* kind, int64_t ran, int64_t drawn);

/** How many nodes a test of hostile nodes draws: a number, so that every machine draws the same ones, and a tenth of it
    where sanitisers make each slow. ORTOLAN_HOSTILE_COUNT says another number; ORTOLAN_HOSTILE_SECONDS makes it a soak
    as long as that. */
class HostileTurns {
 public:
  explicit HostileTurns(int64_t count);
  /** Whether one more is drawn. */
  bool next();

 private:
  int64_t left_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace ortolan::test
