// Running a session: names become slots, values are checked, the compiled graph runs.
#include "runtime/session/session.h"

#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/memory/memory_budget.h"
#include "onnx/reader.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/execution/profiler.h"
#include "runtime/providers/device_placement.h"
#include "runtime/providers/devices.h"
#include "runtime/resolve.h"
#include "runtime/session/kept_models.h"
#include "runtime/session/pending_runs.h"
#include "runtime/session/prepared_model.h"
#include "runtime/session/prepared_sessions.h"
#include "runtime/session/session_builder.h"

namespace ortolan::runtime {
namespace {

Logger session_logger(const Environment& environment, const SessionOptions& options) {
  const Logger& base = environment.logger();
  Severity least = options.log_severity >= 0 ? static_cast<Severity>(options.log_severity) : base.least();
  return Logger(options.log_sink ? options.log_sink : base.sink(), options.log_id.empty() ? base.id() : options.log_id,
                least);
}

/** NULL where the file is not there, or of no use any more. */
std::unique_ptr<Session> session_from_kept(const std::shared_ptr<Environment>& environment, const std::string& path,
                                           const SessionOptions& options,
                                           const std::shared_ptr<PackedWeightsCache>& weights) {
  if (::access(path.c_str(), F_OK) != 0) return nullptr;
  try {
    return SessionBuilder(environment, options, weights).build([&](const onnx::ReadOptions& read) {
      return onnx::read_model_file(path, read);
    });
  } catch (const Error& error) {
    session_logger(*environment, options)
        .log(Severity::kWarning, "session.cc", "the model is compiled anew, as what was kept in '", path,
             "' cannot be used: ", error.text());
    return nullptr;
  }
}

/** Names in words: "'a', 'b'". */
template <class Item>
struct Names {
  const std::vector<Item>& items;

  void append_to(std::string& out) const {
    if (items.empty()) out += "none";
    for (const Item& item : items) base::append(out, join(&item == items.data() ? "'" : ", '", item.name, "'"));
  }
};
template <class Item>
Names(const std::vector<Item>&) -> Names<Item>;

bool fits(const SymbolicShape& stated, const Shape& shape) {
  if (!stated.has_rank()) return true;
  if (stated.rank() != shape.rank()) return false;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (stated[i].known() && stated[i].value() != shape[i]) return false;
  }
  return true;
}

/** A shape with a rank, in words that name its dimensions as the model does: "[N,3,?]". */
struct DeclaredShape {
  const SymbolicShape& shape;
  const graph::SymbolTable& symbols;

  void append_to(std::string& out) const {
    for (size_t i = 0; i < shape.rank(); ++i) {
      std::string name = symbols.name_of(shape[i]);
      out += i == 0 ? '[' : ',';
      base::append(out, shape[i].known() ? std::to_string(shape[i].value()) : name.empty() ? std::string("?") : name);
    }
    out += shape.rank() == 0 ? "[]" : "]";
  }
};

/** Values given for outputs of a session without devices must be ones that the CPU can write. */
void check_on_cpu(std::span<const Value> outputs) {
  for (const Value& output : outputs) {
    const Tensor* given = output.tensor_if();
    require(given == nullptr || given->memory().on_cpu(), ErrorCode::kInvalidArgument,
            "the value for an output is in memory '", given == nullptr ? std::string() : given->memory().name,
            "', but the session runs on the CPU alone");
  }
}

/** The providers' part in a profile of one run, or the end of it in that of a session. A provider that fails there
    costs its events and a warning. */
class ProvidersInProfile {
 public:
  /** `profiler` NULL: there is nothing to do. */
  ProvidersInProfile(Profiler* profiler, std::span<const std::unique_ptr<ExecutionProvider>> providers,
                     const Logger& logger, bool started = false)
      : profiler_(profiler), providers_(providers), logger_(logger) {
    if (!started) each([](ExecutionProvider& provider, Profiler& profile) { provider.start_profiling(profile); });
  }
  ~ProvidersInProfile() { end(); }
  void end() {
    each([](ExecutionProvider& provider, Profiler& profile) { provider.end_profiling(profile); });
    profiler_ = nullptr;
  }

 private:
  void each(void (*step)(ExecutionProvider&, Profiler&)) const {
    for (size_t i = 0; profiler_ != nullptr && i < providers_.size(); ++i) {
      try {
        step(*providers_[i], *profiler_);
      } catch (const Error& error) {
        logger_.log(Severity::kWarning, "session.cc ProvidersInProfile", "the profile lacks events of ",
                    providers_[i]->type(), ": ", error.text());
      }
    }
  }

  Profiler* profiler_;
  std::span<const std::unique_ptr<ExecutionProvider>> providers_;
  const Logger& logger_;
};

}  // namespace

std::string_view SessionOptions::config_or(std::string_view key, std::string_view fallback) const {
  auto found = config.find(std::string(key));
  return found == config.end() ? fallback : std::string_view(found->second);
}

Session::Session(std::shared_ptr<Environment> environment, const SessionOptions& options)
    : environment_(std::move(environment)),
      options_(options),
      logger_(session_logger(*environment_, options)),
      pending_(std::make_shared<PendingRuns>()) {}

Session::~Session() {
  pending_->wait();
  if (profiler_ && profiler_->active()) {
    try {
      end_profiling();
    } catch (const Error& error) {
      logger_.log(Severity::kError, "session.cc ~Session", error.text());
    }
  }
}

void Session::end(std::unique_ptr<Session> session) {
  if (!InPendingRun::here()) return;
  const std::shared_ptr<PendingRuns> pending = session->pending_;
  pending->leave(std::move(session));
}

std::unique_ptr<Session> Session::from_file(std::shared_ptr<Environment> environment, const std::string& path,
                                            const SessionOptions& options,
                                            std::shared_ptr<PackedWeightsCache> weights) {
  const Logger logger = session_logger(*environment, options);
  if (PreparedModel::is_at(path)) return session_from_prepared_model(environment, path, options, logger);
  if (wants_prepared_model(options)) {
    if (auto session = session_by_prepared_model(environment, path, options, logger)) return session;
  }
  auto read = [&](const onnx::ReadOptions& how) { return onnx::read_model_file(path, how); };
  SessionBuilder builder(environment, options, weights);
  if (!keeps_compiled_models(options)) return builder.build(read);
  builder.load(read);
  const std::string kept = kept_model_path(builder.model(), options);
  if (auto session = session_from_kept(environment, kept, options, weights)) return session;
  builder.set_options(keeping_options(options, kept));
  return builder.finish();
}

std::unique_ptr<Session> Session::from_bytes(std::shared_ptr<Environment> environment, std::span<const std::byte> bytes,
                                             const SessionOptions& options,
                                             std::shared_ptr<PackedWeightsCache> weights) {
  bool keep = options.config_or("session.use_ort_model_bytes_directly", "0") == "1";
  return SessionBuilder(std::move(environment), options, std::move(weights)).build([&](const onnx::ReadOptions& read) {
    onnx::ReadOptions copying = read;
    copying.copy_bytes = !keep;
    return onnx::read_model_bytes({bytes, nullptr}, copying);
  });
}

std::unique_ptr<Session> Session::from_model(std::shared_ptr<Environment> environment, std::unique_ptr<Model> model,
                                             const SessionOptions& options,
                                             std::shared_ptr<PackedWeightsCache> weights) {
  return SessionBuilder(std::move(environment), options, std::move(weights)).build([&](const onnx::ReadOptions&) {
    return std::move(model);
  });
}

std::vector<std::string> Session::provider_types() const {
  std::vector<std::string> types;
  for (const auto& provider : providers_) types.push_back(provider->type());
  return types;
}

std::shared_ptr<Allocator> Session::allocator(const MemoryInfo& memory) const {
  if (memory.device == allocator_->info().device) return allocator_;
  return devices_ != nullptr ? devices_->memories().find_allocator(memory) : nullptr;
}

size_t Session::feed_index(const char* name, size_t guess) const {
  if (guess < feeds_.size() && feeds_[guess]->name == name) return guess;
  if (auto found = feed_places_.find(name); found != feed_places_.end()) return found->second;
  fail(ErrorCode::kInvalidArgument, "the model has no input '", name, "'; its inputs are ", Names{inputs_});
}

int Session::output_index(const char* name, size_t guess) const {
  if (guess < outputs_.size() && outputs_[guess].name == name) return static_cast<int>(guess);
  if (auto found = output_places_.find(name); found != output_places_.end()) return static_cast<int>(found->second);
  fail(ErrorCode::kInvalidArgument, "the model has no output '", name, "'; its outputs are ", Names{outputs_});
}

void Session::check_feed(size_t i, const Value& value) const {
  const TypeInfo& stated = feeds_[i]->type;
  const Tensor* tensor = value.tensor_if();
  if (tensor == nullptr) {
    bool optional = stated.kind == ValueKind::kOptional || !stated.known();
    require(optional || value.kind() == stated.kind, ErrorCode::kInvalidArgument, "input '", feeds_[i]->name, "' is ",
            stated, ", but the value given is ", value.has_value() ? type_of(value) : TypeInfo{});
    return;
  }
  require(devices_ != nullptr || tensor->memory().on_cpu(), ErrorCode::kInvalidArgument, "input '", feeds_[i]->name,
          "' is in memory '", tensor->memory().name,
          "', but the session runs on the CPU alone; copy the value with CopyTensors, or add the memory's provider");
  const TypeInfo& expected = stated.kind == ValueKind::kOptional && stated.contained ? *stated.contained : stated;
  require(!expected.known() || expected.is_tensor(), ErrorCode::kInvalidArgument, "input '", feeds_[i]->name, "' is ",
          stated, ", but the value given is a tensor");
  require(!expected.known() || expected.element == tensor->type(), ErrorCode::kInvalidArgument, "input '",
          feeds_[i]->name, "' is ", stated, ", but the value given holds ", name_of(tensor->type()));
  require(fits(expected.shape, tensor->shape()), ErrorCode::kInvalidArgument, "input '", feeds_[i]->name,
          "' has shape ", DeclaredShape{expected.shape, model_->context->symbols},
          " in the model, but the value given has ", tensor->shape(), "; sizes that are numbers must agree");
}

base::RunScope Session::scope_of_run(const RunOptions* options, base::MemoryBudget& budget) const {
  base::RunScope scope = scope_;
  scope.denormals_are_zero |= base::denormals_are_zero();
  scope.terminate = options != nullptr ? &options->terminate : nullptr;
  scope.memory = &budget;
  return scope;
}

void Session::run(RunOptions* options, std::span<const char* const> input_names, std::span<const Value* const> inputs,
                  std::span<const char* const> output_names, std::span<Value> outputs,
                  std::span<const MemoryInfo* const> places) const {
  const ThreadPool::Use in_use(*intra_pool_), of_nodes(inter_pool_ ? *inter_pool_ : *intra_pool_);
  const auto budget = base::MemoryBudget::make(max_run_bytes_, more_run_bytes_);
  const base::ScopedRunScope scope(scope_of_run(options, *budget));
  std::optional<Profiler> own;
  if (options != nullptr && options->profile) own.emplace(options->profile_prefix);
  Profiler* profiler = own ? &*own : profiler_.get();
  ProvidersInProfile in_profile(own ? profiler : nullptr, providers_, logger_);
  std::optional<ScopedSessionEvent> event(std::in_place, profiler, "model_run");
  InlinedVector<const Value*, 16> feeds;
  for (const Value& value : defaults_) feeds.push_back(&value);
  InlinedVector<bool, 16> given(feeds.size(), false);
  auto give = [&](const char* name, size_t guess, const Value& value) {
    size_t feed = feed_index(name, guess);
    check_feed(feed, value);
    feeds[feed] = &value;
    given[feed] = true;
  };
  for (size_t i = 0; i < inputs.size(); ++i) give(input_names[i], i, *inputs[i]);
  if (options != nullptr) {
    for (const auto& extra : options->extra_inputs) {
      for (const auto& [name, value] : extra) give(name.c_str(), 0, value);
    }
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    bool may_be_absent = defaults_[i].has_value() || feeds_[i]->type.kind == ValueKind::kOptional;
    require(given[i] || may_be_absent, ErrorCode::kInvalidArgument, "input '", feeds_[i]->name,
            "' is missing; give a value for each of ", Names{inputs_});
  }
  require(!output_names.empty(), ErrorCode::kInvalidArgument, "no output is asked for; name at least one of ",
          Names{outputs_});
  InlinedVector<int, 16> wanted;
  for (size_t i = 0; i < output_names.size(); ++i) wanted.push_back(output_index(output_names[i], i));

  RunServices services;
  services.threads = intra_pool_.get();
  services.logger = &logger_;
  services.allocator = allocator_;
  services.max_tensor_bytes = max_tensor_bytes_;
  if (devices_ == nullptr) {
    check_on_cpu(outputs);
    compiled_->run(services, feeds, wanted, outputs, profiler);
  } else {
    static const auto* const kNoOptions = new RunOptions;
    run_on_devices(options != nullptr ? *options : *kNoOptions, services, feeds, wanted, outputs, places, profiler);
  }
  event.reset();
  in_profile.end();
  if (own) own->end();
  if (options == nullptr || !options->config.contains("memory.enable_memory_arena_shrinkage")) return;
  compiled_->drop_free_frames();
  allocator_->shrink();
}

struct Session::LaterRun {
  PendingRun pending;  // over when all the rest of this is gone
  const Session& session;
  RunOptions* options;
  std::vector<std::string> input_names;
  std::vector<const Value*> inputs;
  std::vector<std::string> output_names;
  std::span<Value> outputs;
  std::function<void(const Error*)> done;

  void operator()() const {
    const InPendingRun here;
    try {
      run();
    } catch (const Error& error) {
      return done(&error);
    } catch (const std::exception& error) {
      const Error wrapped(ErrorCode::kRuntimeException, error.what());
      return done(&wrapped);
    }
    done(nullptr);
  }
  void run() const {
    std::vector<const char*> in, out;
    for (const std::string& name : input_names) in.push_back(name.c_str());
    for (const std::string& name : output_names) out.push_back(name.c_str());
    session.run(options, in, inputs, out, outputs);
  }
};

void Session::run_async(RunOptions* options, std::vector<std::string> input_names, std::vector<const Value*> inputs,
                        std::vector<std::string> output_names, std::span<Value> outputs,
                        std::function<void(const Error*)> done) const {
  const PendingRun this_call(pending_);  // `done` may end the session before schedule() returns
  const base::ScopedRunScope of_no_run(base::lasting_run_scope());
  intra_pool_->schedule(LaterRun{PendingRun(pending_), *this, options, std::move(input_names), std::move(inputs),
                                 std::move(output_names), outputs, std::move(done)});
}

uint64_t Session::profiling_start() const { return profiler_ ? profiler_->start_ns() : 0; }

std::string Session::end_profiling() {
  if (profiler_ == nullptr) return {};
  if (profiler_->start_ending()) ProvidersInProfile(profiler_.get(), providers_, logger_, /*started=*/true).end();
  return profiler_->end();
}

}  // namespace ortolan::runtime
