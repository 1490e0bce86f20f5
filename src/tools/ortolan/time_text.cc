// The report on the times of nodes as text and JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/terminal.h"
#include "markup.h"
#include "time_report.h"

namespace ortolan::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidestName = 48;  // of names in text

std::string optional_text(const std::optional<double>& value) {
  return value ? fixed(*value, *value < 1 ? 2 : 1) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string calls_text(double calls) { return fixed(calls, calls == std::floor(calls) ? 0 : 1); }

void add_times(std::vector<std::string>& row, const RunTime& time, double share) {
  row.insert(row.end(), {calls_text(time.calls), fixed(time.us, 1), fixed(share * 100, 1) + " %"});
}

// Columns with figures; arithmetic is left out where the library tells none.
void add_figures(std::vector<std::string>& row, const RunTime& time, const TimeReport& report) {
  add_times(row, time, report.share(time));
  if (report.explains) row.push_back(optional_text(time.gigaflops()));
  row.push_back(optional_text(time.gigabytes()));
}

std::vector<std::string> titles(std::vector<std::string> first, bool explains) {
  first.insert(first.end(), {">calls", ">µs", ">share"});
  if (explains) first.push_back(">GFLOP/s");
  first.push_back(">GB/s");
  return first;
}

std::string text_of(const Rows& rows) {
  Table table(rows.at(0));
  for (size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  return table.text();
}

// A run on the host and on its devices, each with a title where there are both.
std::string tables_of(const TimeReport& report, int top) {
  std::string host = text_of(node_rows(report, top, kWidestName)) + "\n" + text_of(operator_rows(report));
  if (report.device.kernels.empty()) return host;
  return join("On the host:\n", host, "\nOn the device:\n", text_of(kernel_rows(report, top, kWidestName)), "\n",
              text_of(kernel_sum_rows(report, &KernelTime::type)), "\n",
              text_of(kernel_sum_rows(report, &KernelTime::kernel)));
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void add_times(Json& out, const RunTime& time, double share) {
  out["calls"] = time.calls;
  out["us"] = time.us;
  out["share"] = share;
}

void add_figures(Json& out, const RunTime& time, double share) {
  add_times(out, time, share);
  out["flops"] = json_of(time.flops);
  out["bytes"] = json_of(time.bytes);
  out["gflops_per_second"] = json_of(time.gigaflops());
  out["gbytes_per_second"] = json_of(time.gigabytes());
}

Json json_of_sums(const DeviceTimes& device, const char* name, std::string KernelTime::*what) {
  Json list = Json::array();
  for (const KernelSum& sum : device.sums(what)) {
    Json entry = {{name, sum.name}, {"nodes", sum.nodes}};
    add_times(entry, sum.time, device.share(sum.time));
    list.push_back(std::move(entry));
  }
  return list;
}

Json json_of(const DeviceTimes& device) {
  Json out = {{"run_us", device.us}};
  out["launches"] = Json::array();
  for (const KernelTime& k : device.kernels) {
    Json launch = {{"node", k.node}, {"operator", k.type}, {"provider", k.provider}, {"kernel", k.kernel}};
    add_times(launch, k.time, device.share(k.time));
    out["launches"].push_back(std::move(launch));
  }
  out["nodes"] = json_of_sums(device, "node", &KernelTime::node);
  out["operators"] = json_of_sums(device, "operator", &KernelTime::type);
  out["kernels"] = json_of_sums(device, "kernel", &KernelTime::kernel);
  add_times(out["total"], device.total(), device.kernels.empty() ? 0 : 1);
  return out;
}

}  // namespace

Rows node_rows(const TimeReport& report, int top, size_t widest) {
  std::vector<std::string> columns = {"node", "operator", "provider"};
  if (report.explains) columns.insert(columns.end(), {"kernel", "isa"});
  Rows rows = {titles(columns, report.explains)};
  std::vector<const NodeTime*> nodes = report.by_time();
  size_t shown = top > 0 ? std::min(nodes.size(), size_t(top)) : nodes.size();
  RunTime rest;
  for (const NodeTime* n : nodes) {
    if (rows.size() > shown) {
      rest += n->time;
      continue;
    }
    std::vector<std::string> row = {shortened(n->node, widest), n->type, n->provider};
    if (report.explains) row.insert(row.end(), {shortened(n->kernel, widest), n->isa});
    add_figures(row, n->time, report);
    rows.push_back(row);
  }
  auto add_sum = [&](const std::string& name, const RunTime& time) {
    std::vector<std::string> row(columns.size());
    row[0] = name;
    add_figures(row, time, report);
    rows.push_back(row);
  };
  if (shown < nodes.size()) add_sum(join(nodes.size() - shown, " other nodes"), rest);
  add_sum("total", report.total());
  return rows;
}

Rows operator_rows(const TimeReport& report) {
  Rows rows = {titles({"operator", ">nodes"}, report.explains)};
  auto add = [&](const std::string& name, size_t nodes, const RunTime& time) {
    rows.push_back({name, std::to_string(nodes)});
    add_figures(rows.back(), time, report);
  };
  for (const OperatorTime& o : report.operators()) add(o.type, size_t(o.nodes), o.time);
  add("total", report.nodes.size(), report.total());
  return rows;
}

Rows kernel_rows(const TimeReport& report, int top, size_t widest) {
  Rows rows = {{"node", "operator", "provider", "kernel", ">launches", ">µs", ">share"}};
  std::vector<const KernelTime*> kernels = report.device.by_time();
  size_t shown = top > 0 ? std::min(kernels.size(), size_t(top)) : kernels.size();
  RunTime rest;
  for (const KernelTime* k : kernels) {
    if (rows.size() > shown) {
      rest += k->time;
      continue;
    }
    rows.push_back({shortened(or_dash(k->node), widest), or_dash(k->type), k->provider, shortened(k->kernel, widest)});
    add_times(rows.back(), k->time, report.device.share(k->time));
  }
  auto add_sum = [&](const std::string& name, const RunTime& time) {
    rows.push_back({name, "", "", ""});
    add_times(rows.back(), time, report.device.share(time));
  };
  if (shown < kernels.size()) add_sum(join(kernels.size() - shown, " other launches"), rest);
  add_sum("total", report.device.total());
  return rows;
}

Rows kernel_sum_rows(const TimeReport& report, std::string KernelTime::*what) {
  Rows rows = {{what == &KernelTime::type ? "operator" : "kernel", ">nodes", ">launches", ">µs", ">share"}};
  auto add = [&](const std::string& name, int nodes, const RunTime& time) {
    rows.push_back({or_dash(name), nodes > 0 ? std::to_string(nodes) : ""});
    add_times(rows.back(), time, report.device.share(time));
  };
  for (const KernelSum& sum : report.device.sums(what)) add(sum.name, sum.nodes, sum.time);
  add("total", 0, report.device.total());
  return rows;
}

std::string device_summary(const TimeReport& report) {
  const DeviceTimes& device = report.device;
  return join("on the device, the kernels of a run take ", fixed(device.us, 1), " µs, ",
              fixed(report.run_us > 0 ? device.us / report.run_us * 100 : 0, 1),
              " % of the run under the profile; the medians of the ", device.kernels.size(), " rows add up to ",
              fixed(device.total().us, 1), " µs");
}

std::string summary(const TimeReport& report) {
  return join("a run takes ", fixed(report.free_us, 1), " µs, or ", fixed(report.run_us, 1), " µs under the profile, ",
              fixed(report.nodes_us, 1), " µs of them in nodes; the medians of the ", report.nodes.size(),
              report.nodes.size() == 1 ? " node" : " nodes", " add up to ", fixed(report.total().us, 1), " µs");
}

std::vector<std::string> notes(const TimeReport& report) {
  std::vector<std::string> notes;
  if (!report.explains && !report.nodes.empty()) {
    notes.push_back(join("The profile of ", report.library,
                         " names no kernels of nodes, counts no arithmetic and has whole ",
                         "microseconds, so there are no columns for the former, and short nodes are coarse."));
  }
  if (report.nodes_us > 1.25 * report.total().us) {
    notes.push_back(
        "The machine was busy: many nodes were interrupted in one run or another, so runs took much longer "
        "than their nodes do.");
  }
  for (const std::string& name : report.device_providers()) {
    notes.push_back(join("Times on ", name, " are those of calls; a device may go on with the work after them."));
  }
  if (!report.device.kernels.empty()) {
    notes.push_back(
        "Times of kernels are the device's own, as the provider told the profile. A call on the host may wait for its "
        "kernels or not, so the two are not to be added.");
  }
  for (const std::string& name : report.silent_providers()) {
    notes.push_back(join(name, " told the profile of no kernels, so how long its device works is not known."));
  }
  return notes;
}

std::string time_text(const TimeReport& report, int top) {
  std::string text =
      join(report.model, " on ", report.library, ": medians of ", report.runs, " runs\n", summary(report), "\n");
  if (!report.device.kernels.empty()) text += device_summary(report) + "\n";
  text += "\n" + tables_of(report, top);
  for (const std::string& note : notes(report)) text += "\n" + note + "\n";
  return text;
}

std::string time_json(const TimeReport& report) {
  Json out = {{"model", report.model},
              {"library", report.library},
              {"runs", report.runs},
              {"run_us", report.run_us},
              {"run_in_nodes_us", report.nodes_us},
              {"run_without_profile_us", report.free_us},
              {"kernels_told", report.explains}};
  out["nodes"] = Json::array();
  for (const NodeTime& n : report.nodes) {
    Json node = {{"node", n.node}, {"operator", n.type}, {"provider", n.provider}, {"kernel", n.kernel},
                 {"isa", n.isa},   {"inputs", n.inputs}, {"outputs", n.outputs}};
    add_figures(node, n.time, report.share(n.time));
    out["nodes"].push_back(std::move(node));
  }
  out["operators"] = Json::array();
  for (const OperatorTime& o : report.operators()) {
    Json sum = {{"operator", o.type}, {"nodes", o.nodes}};
    add_figures(sum, o.time, report.share(o.time));
    out["operators"].push_back(std::move(sum));
  }
  add_figures(out["total"], report.total(), report.nodes.empty() ? 0 : 1);
  out["device"] = json_of(report.device);
  out["providers_without_kernels"] = report.silent_providers();
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ortolan::tools
