// Where the time of a model's runs goes, node by node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/data_set.h"
#include "common/session.h"

namespace ortolan::tools {

double median(std::vector<double> values);

// Counts of one run. Operators without a count of arithmetic have no flops.
struct RunTime {
  double us = 0;  // the median of all runs
  double calls = 0;
  std::optional<double> flops, bytes;

  // Per second, in units of 10^9; none where there is nothing to count or no time to divide by.
  std::optional<double> gigaflops() const { return rate(flops); }
  std::optional<double> gigabytes() const { return rate(bytes); }
  RunTime& operator+=(const RunTime& other);

 private:
  std::optional<double> rate(const std::optional<double>& count) const {
    return count && *count > 0 && us > 0 ? std::optional(*count / us / 1000) : std::nullopt;
  }
};

// Time in the graphs inside a node is theirs, not the node's.
struct NodeTime {
  std::string node, type, provider;  // the provider without "ExecutionProvider"
  std::string kernel, isa;           // empty where the library does not say
  std::string inputs, outputs;       // types and shapes
  RunTime time;
};

struct OperatorTime {
  std::string type;
  int nodes = 0;
  RunTime time;
};

// What a device ran for a node, in the device's own time.
struct KernelTime {
  std::string node, type, provider;  // as of a NodeTime; empty where the provider does not say
  std::string kernel;
  RunTime time;
};

struct KernelSum {
  std::string name;
  int nodes = 0;
  RunTime time;
};

// What providers told of their devices. Apart from the times of nodes, which are the host's.
struct DeviceTimes {
  std::vector<KernelTime> kernels;  // in the order in which the profile has them
  double us = 0;                    // of all in a run, median

  RunTime total() const;
  double share(const RunTime& time) const;  // of the device's time, from 0 to 1
  std::vector<const KernelTime*> by_time() const;
  std::vector<KernelSum> sums(std::string KernelTime::*what) const;  // of those with the same, the longest first
};

struct TimeReport {
  std::string model, library;
  std::vector<NodeTime> nodes;  // in the order in which they first ran
  DeviceTimes device;
  int runs = 0;
  double run_us = 0;      // a whole run while it was profiled, median
  double nodes_us = 0;    // the part of it in nodes
  double free_us = 0;     // a whole run without a profile
  bool explains = false;  // the library told kernels and work

  RunTime total() const;
  double share(const RunTime& time) const;  // of the time in nodes, from 0 to 1
  std::vector<const NodeTime*> by_time() const;
  std::vector<OperatorTime> operators() const;  // the longest first
  // Providers but the CPU's that run nodes, and those of them that told of no kernel.
  std::vector<std::string> device_providers() const;
  std::vector<std::string> silent_providers() const;
};

// Runs the model so often (0: for about two seconds) while it is profiled, and as often while it is not. The profile's
// file is removed again.
TimeReport measure_times(const Library& library, OrtEnv* environment, const std::string& model, SessionConfig config,
                         const std::function<DataSet(const Session&)>& inputs, int runs);

// Nodes of the profile in the file, of its runs after the first `skipped`.
TimeReport read_profile(const std::string& path, int skipped);

// In words: the time of a run and of its nodes, the part of devices in it where they told of any; and what one must
// know to read the figures, a sentence each.
std::string summary(const TimeReport& report);
std::string device_summary(const TimeReport& report);
std::vector<std::string> notes(const TimeReport& report);

// Tables, titles first (one that begins with '>' is of figures), sums last. Nodes by time; `top` of them (0: all),
// names cut to `widest` bytes.
using Rows = std::vector<std::vector<std::string>>;
Rows node_rows(const TimeReport& report, int top = 0, size_t widest = SIZE_MAX);
Rows operator_rows(const TimeReport& report);
// The same of devices, where providers told of any: kernels by time, and sums by operator and by kernel.
Rows kernel_rows(const TimeReport& report, int top = 0, size_t widest = SIZE_MAX);
Rows kernel_sum_rows(const TimeReport& report, std::string KernelTime::*what);
std::string time_text(const TimeReport& report, int top);  // top 0: all nodes
std::string time_json(const TimeReport& report);
// Bars of the nodes in their order, and of the operators, as a picture and as a page with tables. Both need nothing
// else.
std::string time_picture(const TimeReport& report);
std::string time_page(const TimeReport& report);

}  // namespace ortolan::tools
