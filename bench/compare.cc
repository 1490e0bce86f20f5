// compare: two libraries of the ONNX Runtime ABI side by side, on the same models with the same inputs.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"
#include "measure.h"

namespace ortolan::bench {
namespace {

namespace fs = std::filesystem;
using tools::fixed;

struct Settings {
  Effort effort;
  tools::RandomRules rules;
  std::string data_folder, threads = "1,2", json_path, provider_a, provider_b;
  double limit = 0;
  bool json = false, made_up = false;
};

tools::CommandLine command_line(Settings& s) {
  auto pair_into = [](std::map<std::string, int64_t>& target, const char* what) {
    return [&target, what](const std::string& text) {
      auto [name, value] = tools::parse_pair(text, '=', what);
      target[name] = tools::parse_integer(value, what);
    };
  };
  return {
      "compare [OPTION...] LIBRARY_A LIBRARY_B MODEL...",
      "Session creation, first run, median run and peak memory in A and in B, how much their outputs differ, and the\n"
      "ratio A/B of the runs with its quartiles (below 1: A is faster). MODEL is a file or a folder with model.onnx;\n"
      "MODEL@name=size,... sets symbolic dimensions for this model.",
      {{0, "dim", "NAME=SIZE", "size of a symbolic dimension (default 1)", pair_into(s.rules.dims, "--dim")},
       {0, "bound", "INPUT=TOP", "integers of this input are below TOP", pair_into(s.rules.bounds, "--bound")},
       {0, "data", "FOLDER", "inputs from this test data set (default: test_data_set_0 beside the model)",
        tools::into(s.data_folder)},
       {0, "random", nullptr, "make inputs up even where there is a test data set", tools::turn(s.made_up)},
       {0, "provider-a", "NAME", "execution provider in A, such as Vulkan (default: the CPU)",
        tools::into(s.provider_a)},
       {0, "provider-b", "NAME", "the same in B", tools::into(s.provider_b)},
       {0, "threads", "LIST", "thread counts of the runs (default 1,2)", tools::into(s.threads)},
       {0, "rounds", "N", "alternations of A and B (default 11)", tools::into(s.effort.rounds, "--rounds")},
       {0, "seconds", "X", "runs of each library take about this long (default 2)",
        tools::into(s.effort.seconds, "--seconds")},
       {0, "starts", "N", "fresh processes per library (default 5)", tools::into(s.effort.starts, "--starts")},
       {0, "level", "N", "optimisation level (default 99)", tools::into(s.effort.level, "--level")},
       {0, "timeout", "SECONDS", "longest time of one measuring process (default 600)",
        tools::into(s.effort.timeout, "--timeout")},
       {0, "neighbours", "N", "processes that keep processors busy during the runs (default 0)",
        tools::into(s.effort.neighbours, "--neighbours")},
       {0, "limit", "RATIO", "end with status 1 if a model's ratio A/B is above this", tools::into(s.limit, "--limit")},
       {0, "json", nullptr, "print the result as JSON", tools::turn(s.json)},
       {0, "json-file", "FILE", "write the result as JSON beside the table", tools::into(s.json_path)}}};
}

Model chosen_model(const std::string& argument, const Settings& settings) {
  Model model = read_model(argument, settings.rules);
  fs::path beside = fs::path(model.path).parent_path() / "test_data_set_0";
  model.data_folder = settings.data_folder;
  if (model.data_folder.empty() && !settings.made_up && fs::exists(beside)) model.data_folder = beside;
  return model;
}

std::vector<int> read_threads(const std::string& list) {
  std::vector<int> counts;
  for (const std::string& item : tools::split(list, ',')) {
    counts.push_back(int(tools::parse_integer(item, "--threads")));
    if (counts.back() < 1) tools::fail_usage("--threads: ", item, " is no number of threads");
  }
  return counts;
}

// Three digits that matter; nothing where nothing was measured.
std::string brief(double value) {
  if (value == 0) return "-";
  return fixed(value, value < 1 ? 3 : value < 10 ? 2 : value < 1000 ? 1 : 0);
}

std::string ratio_text(double a, double b) { return a > 0 && b > 0 ? fixed(a / b, 2) : "-"; }

std::string difference_text(const tools::Distance& distance) {
  if (!distance.comparable) return "other shapes or types";
  char text[64];
  std::snprintf(text, sizeof text, "%.1e (%.1e)", distance.absolute, distance.relative);
  return distance.mismatches ? text + tools::join(", ", distance.mismatches, " mismatches") : text;
}

std::string to_table(const std::vector<Comparison>& results, const std::vector<int>& threads) {
  std::vector<std::string> titles = {"model", ">create A", ">B", ">A/B", ">first A", ">B", ">peak MB A", ">B", ">A/B"};
  for (int count : threads) {
    titles.push_back(">" + std::to_string(count) + "T ms A");
    titles.insert(titles.end(), {">B", ">A/B", "quartiles"});
  }
  titles.push_back("difference (relative)");
  tools::Table table(titles);
  for (const Comparison& r : results) {
    std::vector<std::string> row = {r.label,
                                    brief(r.a.create),
                                    brief(r.b.create),
                                    ratio_text(r.a.create, r.b.create),
                                    brief(r.a.first_run),
                                    brief(r.b.first_run),
                                    brief(std::round(r.a.peak_bytes / 1e6)),
                                    brief(std::round(r.b.peak_bytes / 1e6)),
                                    ratio_text(r.a.peak_bytes, r.b.peak_bytes)};
    for (const Runs& runs : r.runs) {
      row.insert(row.end(), {brief(runs.a), brief(runs.b), fixed(runs.ratio.median, 2),
                             fixed(runs.ratio.low, 2) + "-" + fixed(runs.ratio.high, 2)});
    }
    row.resize(titles.size() - 1);
    row.push_back(r.error.empty() ? difference_text(r.distance) : "failed");
    table.add(row);
  }
  std::string text = table.text();
  for (const Comparison& r : results) {
    if (!r.error.empty()) text += "\n" + r.label + " failed: " + r.error + "\n";
  }
  return text;
}

std::string to_json(const std::vector<Comparison>& results, const std::string& a, const std::string& b,
                    int neighbours) {
  nlohmann::ordered_json out = {
      {"a", a}, {"b", b}, {"neighbours", neighbours}, {"models", nlohmann::ordered_json::array()}};
  auto start = [](const Start& s) {
    return nlohmann::ordered_json{{"create_ms", s.create}, {"first_run_ms", s.first_run}, {"peak_bytes", s.peak_bytes}};
  };
  for (const Comparison& r : results) {
    nlohmann::ordered_json model = {{"model", r.label}, {"a", start(r.a)}, {"b", start(r.b)}};
    model["runs"] = nlohmann::ordered_json::array();
    for (const Runs& runs : r.runs) {
      model["runs"].push_back({{"threads", runs.threads},
                               {"a_ms", runs.a},
                               {"b_ms", runs.b},
                               {"ratio", runs.ratio.median},
                               {"ratio_quartiles", {runs.ratio.low, runs.ratio.high}}});
    }
    model["difference"] = {{"comparable", r.distance.comparable},
                           {"absolute", r.distance.absolute},
                           {"relative", r.distance.relative},
                           {"mismatches", r.distance.mismatches}};
    if (!r.error.empty()) model["error"] = r.error;
    out["models"].push_back(model);
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string name_of(const Side& side) {
  return side.provider.empty() ? side.library : side.provider + " of " + side.library;
}

bool within(const Comparison& result, double limit) {
  if (!result.error.empty()) return false;
  for (const Runs& runs : result.runs) {
    if (limit > 0 && runs.ratio.median > limit) return false;
  }
  return true;
}

int run(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> rest = parse(argc, argv, command_line(settings));
  if (rest.size() < 3) tools::fail_usage("give two libraries and a model");
  if (settings.effort.rounds < 1 || settings.effort.starts < 1) tools::fail_usage("--rounds and --starts: 1 or more");
  std::vector<int> threads = read_threads(settings.threads);
  std::vector<Model> models;
  for (size_t i = 2; i < rest.size(); ++i) models.push_back(chosen_model(rest[i], settings));
  const Side a{rest[0], settings.provider_a}, b{rest[1], settings.provider_b};
  std::vector<Comparison> results;
  bool good = true;
  tools::Progress progress(models.size());
  for (const Model& model : models) {
    progress.show("measuring " + model.label);
    results.push_back(compare(model, a, b, threads, settings.effort));
    progress.step(model.label);
    good = good && within(results.back(), settings.limit);
  }
  progress.clear();
  const std::string names[] = {name_of(a), name_of(b)};
  std::string json = to_json(results, names[0], names[1], settings.effort.neighbours);
  if (!settings.json_path.empty()) tools::write_file(settings.json_path, json);
  if (settings.json) {
    std::fputs(json.c_str(), stdout);
  } else {
    std::printf("A: %s\nB: %s\nTimes in ms.\n\n%s", names[0].c_str(), names[1].c_str(),
                to_table(results, threads).c_str());
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace ortolan::bench

int main(int argc, char** argv) {
  return ortolan::tools::run_program("compare", [&] { return ortolan::bench::run(argc, argv); });
}
