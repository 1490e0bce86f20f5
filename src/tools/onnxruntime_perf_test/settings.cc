// The options of onnxruntime_perf_test.
#include "settings.h"

#include <functional>

#include "common/files.h"

namespace ortolan::tools {
namespace {

std::function<void(const std::string&)> entry(SessionConfig& session, const char* key, const char* value) {
  return [&session, key, value](const std::string& text) { session.entries.emplace_back(key, value ? value : text); };
}

std::vector<Option> session_options(PerfSettings& s) {
  SessionConfig& session = s.session;
  constexpr const char* kSpin = "session.intra_op.allow_spinning";
  constexpr const char* kStop = "session.force_spinning_stop";
  return {
      {'e', "", "NAME", "execution provider (default cpu); again for more, in order", into(session.providers)},
      {'i', "", "'K|V K|V'", "options of the provider", pairs_into(session.provider_options, "-i")},
      {'C', "", "'K|V K|V'", "session config entries", pairs_into(session.entries, "-C")},
      {'x', "", "N", "threads inside an operator (default: the library's choice)", into(session.threads, "-x")},
      {'y', "", "N", "threads between operators", into(session.inter_threads, "-y")},
      {'P', "", nullptr, "operators may run side by side", turn(session.parallel)},
      {'o', "", "N", "optimisation level: 0, 1, 2, 3 or 99 (default 99)", into(session.level, "-o")},
      {'u', "", "PATH", "write the optimised model", into(session.optimized_path)},
      {'p', "", "PREFIX", "profile into files that start with this", into(session.profile_prefix)},
      {'f', "", "NAME:SIZE", "size of a free dimension, by name", into_sizes(session.dimensions)},
      {'F', "", "NAME:SIZE", "size of a free dimension, by denotation", into_sizes(session.denotations)},
      {'A', "", nullptr, "no memory arena", turn(session.arena, false)},
      {'M', "", nullptr, "no memory pattern", turn(session.memory_pattern, false)},
      {'T', "", "LIST", "processors of the threads inside an operator, as '1;2;3-4'",
       entry(session, "session.intra_op_thread_affinities", nullptr)},
      {'D', "", nullptr, "threads never spin", entry(session, kSpin, "0")},
      {'Z', "", nullptr, "threads spin during runs only", entry(session, kStop, "1")},
      {'z', "", nullptr, "denormal numbers are zero", entry(session, "session.set_denormal_as_zero", "1")},
      {0, "spin_duration_us", "N", "longest spin of an idle thread",
       entry(session, "session.intra_op.spin_duration_us", nullptr)},
      {'R', "", "PATH", "library of custom operators", into(session.custom_ops_library)},
      {'l', "", nullptr, "read the model into memory first", turn(session.in_memory)},
  };
}

std::vector<Option> run_options(PerfSettings& s) {
  auto set_mode = [&s](const std::string& text) {
    if (text != "duration" && text != "times") fail_usage("-m must be duration or times, not '", text, "'");
    s.by_time = text == "duration";
  };
  auto set_seconds = [&s](const std::string& text) {
    s.seconds = parse_number(text, "-t");
    s.by_time = true;
  };
  auto set_seed = [&s](const std::string& text) {
    s.rules.seed = uint64_t(parse_integer(text, "-S"));
    s.made_up = true;
  };
  return {
      {'m', "", "MODE", "duration: for some seconds; times: so many runs (default)", set_mode},
      {'t', "", "SECONDS", "length of mode duration (default 600)", set_seconds},
      {'r', "", "N", "runs of mode times (default 1000)", into(s.repeats, "-r")},
      {'c', "", "N", "runs at the same time (default 1)", into(s.concurrent, "-c")},
      {'I', "", nullptr, "make inputs up instead of reading test_data_set_0", turn(s.made_up)},
      {'S', "", "SEED", "make inputs up from this seed", set_seed},
      {0, "data_shape", "'NAME:D,D NAME:D'", "shapes of made-up inputs",
       [&s](const std::string& text) { add_shapes(text, "--data_shape", s.rules); }},
      {'s', "", nullptr, "print percentiles", turn(s.statistics)},
      {'v', "", nullptr, "verbose log", turn(s.verbose)},
      {'n', "", nullptr, "end after session creation", turn(s.session_only)},
      {0, "plugin_ep_libs", "'NAME|PATH ...'", "register plugin libraries", into(s.session.plugins)},
      {0, "plugin_eps", "'NAME;NAME'", "run on all devices of these plugin providers", into(s.plugin_providers)},
      {0, "plugin_ep_options", "'K|V K|V'", "options of the plugin providers", into(s.plugin_options)},
      {0, "list_ep_devices", nullptr, "list the devices and end", turn(s.list_devices)},
      {0, "select_ep_devices", "'0;1'", "run on the devices of these numbers", into(s.selected_devices)},
      {0, "compile_ep_context", "PATH", "compile the model for its providers into this file and end",
       into(s.compile_path)},
      {0, "json", nullptr, "print the result as JSON", turn(s.json)},
      {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)},
  };
}

}  // namespace

CommandLine perf_command_line(PerfSettings& settings) {
  CommandLine line{
      "onnxruntime_perf_test [OPTION...] MODEL [RESULT_FILE]",
      "Measures session creation and runs of a model. Inputs come from test_data_set_0 beside the model, or\n"
      "are made up (-I, -S). A RESULT_FILE gets a line of comma-separated figures.",
      session_options(settings)};
  for (Option& option : run_options(settings)) line.options.push_back(std::move(option));
  return line;
}

}  // namespace ortolan::tools
