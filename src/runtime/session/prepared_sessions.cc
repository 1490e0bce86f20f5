// When a prepared model serves a session, and when it is made.
#include "runtime/session/prepared_sessions.h"

#include <unistd.h>

#include <filesystem>

#include "onnx/reader.h"
#include "runtime/environment.h"
#include "runtime/session/prepared_model.h"
#include "runtime/session/session_builder.h"
#include "runtime/session/session_entries.h"

namespace ortolan::runtime {
namespace {

constexpr const char* kPreparedPath = "ortolan.prepared_model_path";
constexpr const char* kCheckPrepared = "ortolan.check_prepared_model";

/** Entries that reading, passes or kernels' packing heed. */
constexpr const char* kDecisiveEntries[] = {
    "ortolan.cpu.fp32_precision", "mlas.enable_gemm_fastmath_arm64_bfloat16", "session.disable_quant_qdq",
    "session.model_external_initializers_file_folder_path", "session.set_denormal_as_zero"};

bool is_cpu_alone(const SessionOptions& options) {
  return !options.select_providers && std::ranges::all_of(options.providers, [](const ProviderRequest& request) {
    return request.name == "CPUExecutionProvider";
  });
}

/** What a prepared model cannot have, in words; empty where there is nothing. */
std::string hindrance(const SessionOptions& options) {
  if (!is_cpu_alone(options)) return "other providers than the CPU";
  if (!options.initializers.empty() || !options.external_initializers.empty() || !options.external_files.empty()) {
    return "weights from the caller";
  }
  if (!options.custom_operators.empty()) return "custom operators";
  const bool writes = !options.optimized_model_path.empty() || is_on(options, "ep.context_enable", false);
  return writes ? "an optimised or compiled model written of it" : "";
}

/** All that decides on the graph and the packed forms, beside the model's files and the machine. */
std::string prepared_key(const Environment& environment, const std::string& model_path, const SessionOptions& options) {
  std::string key = join(std::filesystem::absolute(model_path).string(), "\nlevel ", static_cast<int>(options.level));
  for (const auto& [name, size] : options.dimensions_by_name) base::append(key, join("\ndimension ", name, " ", size));
  for (const auto& [name, size] : options.dimensions_by_denotation) {
    base::append(key, join("\ndenotation ", name, " ", size));
  }
  for (const char* entry : kDecisiveEntries) base::append(key, join("\n", entry, " ", options.config_or(entry, "")));
  if (options.use_global_threads && environment.denormals_are_zero()) key += "\nwithout denormals";
  return key;
}

std::unique_ptr<Session> session_of(const std::shared_ptr<Environment>& environment,
                                    const std::shared_ptr<const PreparedModel>& prepared,
                                    const SessionOptions& options) {
  if (is_on(options, kCheckPrepared, false)) prepared->check_content();
  SessionBuilder builder(environment, options, nullptr);
  builder.take_prepared(prepared);
  return builder.build([&](const onnx::ReadOptions& read) { return prepared->read(read); });
}

/** NULL where the file is not there, or of no use any more. */
std::unique_ptr<Session> session_from_current(const std::shared_ptr<Environment>& environment, const std::string& path,
                                              const std::string& key, const SessionOptions& options,
                                              const Logger& logger) {
  if (::access(path.c_str(), F_OK) != 0) return nullptr;
  auto say = [&](std::string_view reason) {
    logger.log(Severity::kWarning, "prepared_sessions.cc", "the model is prepared anew, as '", path,
               "' cannot be used: ", reason);
  };
  try {
    const auto prepared = PreparedModel::open(path);
    if (prepared->key() != key) {
      say("it was made of another model or with other options");
    } else if (!prepared->is_for_this_machine()) {
      say("it was made for another processor");
    } else if (!prepared->is_current()) {
      say("the model has changed");
    } else {
      return session_of(environment, prepared, options);
    }
  } catch (const Error& error) {
    say(error.text());
  }
  return nullptr;
}

}  // namespace

bool wants_prepared_model(const SessionOptions& options) { return !options.config_or(kPreparedPath, "").empty(); }

std::unique_ptr<Session> session_by_prepared_model(const std::shared_ptr<Environment>& environment,
                                                   const std::string& model_path, const SessionOptions& options,
                                                   const Logger& logger) {
  const std::string path(options.config_or(kPreparedPath, ""));
  if (const std::string reason = hindrance(options); !reason.empty()) {
    logger.log(Severity::kWarning, "prepared_sessions.cc", "the session entry '", kPreparedPath,
               "' has no effect: a prepared model cannot have ", reason);
    return nullptr;
  }
  const std::string key = prepared_key(*environment, model_path, options);
  if (auto session = session_from_current(environment, path, key, options, logger)) return session;
  auto read = [&](const onnx::ReadOptions& how) { return onnx::read_model_file(model_path, how); };
  SessionOptions writing = options;
  writing.profile = false;  // that is the session's which is made then
  SessionBuilder(environment, writing, nullptr).write_prepared(read, path, key);
  return session_of(environment, PreparedModel::open(path), options);
}

std::unique_ptr<Session> session_from_prepared_model(const std::shared_ptr<Environment>& environment,
                                                     const std::string& path, const SessionOptions& options,
                                                     const Logger& logger) {
  const std::string reason = hindrance(options);
  require(reason.empty(), ErrorCode::kInvalidArgument, "'", path, "' is a prepared model, which cannot have ", reason,
          "; make the session from the model itself");
  const auto prepared = PreparedModel::open(path);
  if (!prepared->is_for_this_machine()) {
    logger.log(
        Severity::kWarning, "prepared_sessions.cc", "'", path,
        "' was prepared for another processor: weights are packed anew; 'ortolan prepare' on this machine mends it");
  }
  return session_of(environment, prepared, options);
}

}  // namespace ortolan::runtime
