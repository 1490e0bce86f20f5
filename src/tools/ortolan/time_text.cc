// The report on the times of nodes as text and JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.h"
#include "common/terminal.h"
#include "markup.h"
#include "time_report.h"

namespace ortolan::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string optional_text(const std::optional<double>& value) {
  return value ? fixed(*value, *value < 1 ? 2 : 1) : "-";
}

std::string calls_text(double calls) { return fixed(calls, calls == std::floor(calls) ? 0 : 1); }

// Columns with figures; arithmetic is left out where the library tells none.
void add_figures(std::vector<std::string>& row, const RunTime& time, const TimeReport& report) {
  row.insert(row.end(), {calls_text(time.calls), fixed(time.us, 1), fixed(report.share(time) * 100, 1) + " %"});
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

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void add_figures(Json& out, const RunTime& time, double share) {
  out["calls"] = time.calls;
  out["us"] = time.us;
  out["share"] = share;
  out["flops"] = json_of(time.flops);
  out["bytes"] = json_of(time.bytes);
  out["gflops_per_second"] = json_of(time.gigaflops());
  out["gbytes_per_second"] = json_of(time.gigabytes());
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

std::string summary(const TimeReport& report) {
  return join("a run takes ", fixed(report.free_us, 1), " µs, or ", fixed(report.run_us, 1), " µs under the profile, ",
              fixed(report.nodes_us, 1), " µs of them in nodes; the medians of the ", report.nodes.size(),
              report.nodes.size() == 1 ? " node" : " nodes", " add up to ", fixed(report.total().us, 1), " µs");
}

std::vector<std::string> notes(const TimeReport& report) {
  std::vector<std::string> notes;
  if (!report.explains && !report.nodes.empty()) {
    notes.push_back(join("The profile of ", report.library, " names no kernels, counts no arithmetic and has whole ",
                         "microseconds, so there are no columns for the former, and short nodes are coarse."));
  }
  if (report.nodes_us > 1.25 * report.total().us) {
    notes.push_back(
        "The machine was busy: many nodes were interrupted in one run or another, so runs took much longer "
        "than their nodes do.");
  }
  std::set<std::string> others;
  for (const NodeTime& node : report.nodes) {
    if (node.provider != "CPU") others.insert(node.provider);
  }
  for (const std::string& name : others) {
    notes.push_back(join("Times on ", name, " are those of calls; a device may go on with the work after them."));
  }
  return notes;
}

std::string time_text(const TimeReport& report, int top) {
  std::string text =
      join(report.model, " on ", report.library, ": medians of ", report.runs, " runs\n", summary(report), "\n\n",
           text_of(node_rows(report, top, 48)), "\n", text_of(operator_rows(report)));
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
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ortolan::tools
