// The way from a model's bytes to a session.
#include "runtime/session/session_builder.h"

#include <algorithm>
#include <filesystem>

#include "base/memory/lasting_memory.h"
#include "base/memory/mapped_file.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/pass.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/execution/profiler.h"
#include "runtime/kernels/evaluate.h"
#include "runtime/providers/device_placement.h"
#include "runtime/providers/devices.h"
#include "runtime/providers/partitioner.h"
#include "runtime/resolve.h"
#include "runtime/session/ep_context.h"
#include "runtime/session/prepared_model.h"
#include "runtime/session/session_entries.h"

namespace ortolan::runtime {
namespace {

/** What holds in all runs of the session: as its entries say, and the global pools where it uses them. */
base::RunScope scope_of(const Session& session) {
  const SessionOptions& options = session.options();
  base::RunScope scope{precision_of(options)};
  scope.denormals_are_zero = is_on(options, "session.set_denormal_as_zero", false) ||
                             (options.use_global_threads && session.environment()->denormals_are_zero());
  return scope;
}

onnx::ReadOptions read_options(const SessionOptions& options) {
  onnx::ReadOptions read;
  read.external_folder = options.config_or("session.model_external_initializers_file_folder_path", "");
  for (const auto& [name, bytes] : options.external_files) read.external_files[name] = {bytes, nullptr};
  for (const auto& [name, value] : options.initializers) read.initializers[name] = value.tensor();
  for (const auto& [name, value] : options.external_initializers) read.external_initializers[name] = value.tensor();
  read.max_nodes = number_or(options, "ortolan.max_nodes", read.max_nodes);
  read.max_inlined_bytes = number_or(options, "ortolan.max_inlined_bytes", read.max_inlined_bytes);
  read.max_tensor_bytes = number_or(options, "ortolan.max_initializer_bytes", read.max_tensor_bytes);
  read.dimensions_by_name = options.dimensions_by_name;
  read.dimensions_by_denotation = options.dimensions_by_denotation;
  for (const auto& custom : options.custom_operators) read.default_opsets.try_emplace(custom->domain, 1);
  return read;
}

/** What is inferred, with symbols and sizes that only the file states where nothing better is known. */
TypeInfo reported(TypeInfo inferred, const TypeInfo& stated) {
  if (!inferred.known()) return stated;
  inferred.denotation = stated.denotation;
  if (!inferred.is_tensor() || !stated.is_tensor() || !stated.shape.has_rank()) return inferred;
  if (!inferred.shape.has_rank()) {
    inferred.shape = stated.shape;
  } else if (inferred.shape.rank() == stated.shape.rank()) {
    for (size_t i = 0; i < stated.shape.rank(); ++i) {
      if (!inferred.shape[i].known()) inferred.shape[i] = stated.shape[i];
    }
  }
  return inferred;
}

std::vector<const ops::SchemaRow*> custom_rows(const SessionOptions& options) {
  std::vector<const ops::SchemaRow*> rows;
  for (const auto& custom : options.custom_operators) rows.push_back(custom.get());
  return rows;
}

}  // namespace

SessionBuilder::SessionBuilder(std::shared_ptr<Environment> environment, const SessionOptions& options,
                               std::shared_ptr<PackedWeightsCache> weights)
    : session_(new Session(std::move(environment), options)) {
  session_->weights_ = weights ? std::move(weights) : std::make_shared<PackedWeightsCache>(WeightsKey::kOwner);
  if (options.profile) session_->profiler_ = std::make_unique<Profiler>(options.profile_prefix);
}

/** Called between the steps of loading, which may each take long. */
void SessionBuilder::check_cancelled() const {
  require(!session_->options_.cancel_load->load(), ErrorCode::kModelLoadCanceled,
          "loading was cancelled by the session options' cancellation flag");
}

std::unique_ptr<Session> SessionBuilder::build(ReadModel read) {
  load(read);
  return finish();
}

void SessionBuilder::load(ReadModel read) {
  auto begin = Profiler::Clock::now();
  check_cancelled();
  session_->model_ = read(read_options(session_->options_));
  describe();
  if (session_->profiler_) session_->profiler_->add_session_event("model_loading", begin);
}

std::unique_ptr<Session> SessionBuilder::finish() {
  auto begin = Profiler::Clock::now();
  session_->scope_ = scope_of(*session_);
  const base::ScopedRunScope scope(session_->scope_);
  const base::LastingReuse weights_replaced_by_packed_ones;
  prepare();
  save_rewritten();
  std::optional<CompiledOutput> compiled = compiled_output_of(session_->options_);
  partition_nodes(compiled ? &*compiled : nullptr);
  rewrite(RewriteLevel::kExtended, RewriteLevel::kAll);
  place_values();
  compile();
  for (const auto& provider : session_->providers_) provider->on_session_ready();
  if (session_->profiler_) session_->profiler_->add_session_event("session_initialization", begin);
  return std::move(session_);
}

void SessionBuilder::write_compiled(ReadModel read, const CompiledOutput& output) {
  load(read);
  prepare();
  partition_nodes(&output);
}

void SessionBuilder::write_prepared(ReadModel read, const std::string& path, const std::string& key) {
  load(read);
  const std::vector<PreparedSource> sources = sources_of(session_->model_->files);
  for (const PreparedSource& source : sources) {
    std::error_code none;  // where nothing has that path yet
    require(!std::filesystem::equivalent(source.path, path, none), ErrorCode::kInvalidArgument, "'", path,
            "' is a file of the model itself; give the prepared model another path");
  }
  session_->weights_->note_forms();
  keeps_constants_ = true;
  session_ = finish();
  write_prepared_model(*session_->model_, session_->weights_->noted(), key, sources, path);
}

void SessionBuilder::take_prepared(std::shared_ptr<const PreparedModel> prepared) {
  is_rewritten_ = true;
  session_->weights_->take_from(std::move(prepared));
}

/** What comes before the providers choose nodes. */
void SessionBuilder::prepare() {
  make_threads();
  make_allocator();
  make_providers();
  if (session_->profiler_) start_profiling();
  std::vector<TypeInfo> stated_outputs = output_types();
  check_cancelled();
  resolve();
  describe_values(stated_outputs);
  rewrite(RewriteLevel::kBasic, RewriteLevel::kBasic);
}

/** Gives the nodes to providers; with `output`, what they compile is written there too. */
void SessionBuilder::partition_nodes(const CompiledOutput* output) {
  check_cancelled();
  std::vector<std::pair<std::string, std::string>> infos;
  if (output != nullptr) {
    if (!output->write) compiled_path(*output, session_->model_->path);
    check_weightless();
    infos = compatibility_infos();
  }
  assign_nodes();
  if (output == nullptr) return;
  write_compiled_model(*session_->model_, session_->operators_, *output, std::move(infos), session_->logger_);
}

/** Whether the providers can leave out weights, where the session asks for it. */
void SessionBuilder::check_weightless() const {
  const SessionOptions& options = session_->options_;
  if (!is_on(options, "ep.enable_weightless", false) &&
      !is_on(options, "ep.enable_weightless_ep_context_nodes", false)) {
    return;
  }
  for (const auto& provider : session_->providers_) {
    if (provider == session_->providers_.back()) continue;
    WeightlessSupport support = provider->weightless_support();
    require(support != WeightlessSupport::kNone, ErrorCode::kEpFail,
            "the session entry 'ep.enable_weightless' asks for "
            "compiled data without weights, which provider ",
            provider->type(), " cannot make");
    if (support != WeightlessSupport::kUnknown) continue;
    session_->logger_.log(Severity::kWarning, "session_builder.cc check_weightless", "provider ", provider->type(),
                          " does not say whether it can leave weights out of compiled data, as the session asks");
  }
}

/** What the providers want to find in the compiled model again, as metadata. */
std::vector<std::pair<std::string, std::string>> SessionBuilder::compatibility_infos() const {
  std::vector<std::pair<std::string, std::string>> infos;
  for (const auto& provider : session_->providers_) {
    std::string info = provider->compatibility_info(*session_->model_->graph);
    if (!info.empty()) infos.emplace_back(compatibility_key(provider->type()), std::move(info));
  }
  return infos;
}

void SessionBuilder::resolve() {
  resolve_model(*session_->model_, custom_rows(session_->options_));
  read_context_data(*session_->model_, session_->options_);
  check_context_files(*session_->model_, session_->options_);
}

/** Calls `use` with what passes may ask for. */
template <class Use>
void SessionBuilder::with_passes(Use&& use) {
  Evaluator evaluator(*session_->providers_.back(), *session_->intra_pool_, session_->max_tensor_bytes_,
                      session_->max_run_bytes_);
  auto evaluate = [&](const Node& node) { return evaluator.run(node); };
  auto resolve = [&](Node& node) { ops::resolve_schema(node, custom_rows(session_->options_)); };
  auto infer = [](Graph& graph) { infer_types(graph); };
  passes::PassContext context{evaluate, resolve, infer};
  context.files = session_->model_->files;
  context.threads = session_->intra_pool_.get();
  context.find_quantized =
      session_->options_.level > RewriteLevel::kBasic && !is_on(session_->options_, "session.disable_quant_qdq", false);
  use(context);
}

void SessionBuilder::rewrite(RewriteLevel first, RewriteLevel last) {
  last = std::min(last, session_->options_.level);
  if (last < first || is_rewritten_) return;
  with_passes([&](passes::PassContext& context) {
    if (first > RewriteLevel::kBasic) context.provider = session_->providers_.back()->type();
    passes::rewrite(*session_->model_->graph, static_cast<int>(first), static_cast<int>(last), context);
  });
}

void SessionBuilder::save_rewritten() {
  const SessionOptions& options = session_->options_;
  if (options.optimized_model_path.empty()) return;
  onnx::WriteOptions write;
  write.external_file = options.config_or("session.optimized_model_external_initializers_file_name", "");
  write.external_threshold =
      static_cast<size_t>(number_or(options, "session.optimized_model_external_initializers_min_size_in_bytes", 1024));
  onnx::write_model_file(*session_->model_, options.optimized_model_path, write);
}

void SessionBuilder::assign_nodes() {
  const Logger& logger = session_->logger_;
  PartitionOptions options{&logger, is_on(session_->options_, "session.disable_cpu_ep_fallback", false),
                           is_on(session_->options_, "session.record_ep_graph_assignment_info", false)};
  options.forbid_compiling = is_on(session_->options_, "session.disable_model_compile", false);
  options.least_island = static_cast<size_t>(number_or(session_->options_, "ortolan.min_island_nodes", 1));
  options.model_path = session_->model_->path;
  options.tidy_transposes = [&](Graph& graph) {
    with_passes([&](const passes::PassContext& context) { passes::tidy_transposes(graph, context); });
  };
  options.name_prefix = session_->options_.config_or("ep.context_node_name_prefix", "");
  Partition result = partition(*session_->model_->graph, session_->providers_, options);
  session_->assignments_ = std::move(result.assignments);
  session_->operators_ = std::move(result.operators);
  if (!logger.wants(Severity::kVerbose)) return;
  for (const NodeAssignment& assignment : session_->assignments_) {
    logger.log(Severity::kVerbose, "session_builder.cc assign_nodes", "node '", assignment.node_name, "' (",
               assignment.op_type, ") runs on ", assignment.provider);
  }
}

void SessionBuilder::place_values() {
  Session& session = *session_;
  if (session.devices_ == nullptr) return;
  Graph& graph = *session.model_->graph;
  for (auto& copy : runtime::place_values(graph, session.providers_, session.devices_->memories())) {
    session.operators_.push_back(std::move(copy));
  }
  session.copies_ = list_copies(graph, session.providers_.back()->type());
  for (const ValueInfo* feed : session.feeds_) session.feeds_cpu_.push_back(read_on_cpu(*feed));
  for (const auto& provider : session.providers_) {
    if (provider->captures_graphs() && stands_for_runs(*provider)) session.recorders_.push_back(provider.get());
  }
}

/** Whether a run that the provider records is all that there is to run. */
bool SessionBuilder::stands_for_runs(const ExecutionProvider& provider) const {
  bool alone = std::ranges::all_of(session_->assignments_,
                                   [&](const NodeAssignment& node) { return node.provider == provider.type(); });
  if (alone || !provider.records_beside_shapes()) return alone;
  return computes_from_shapes(*session_->model_->graph, provider.type(), session_->providers_.back()->type());
}

void SessionBuilder::compile() {
  CompileServices services;
  services.threads = session_->intra_pool_.get();
  services.weights = session_->weights_.get();
  services.config = &session_->options_.config;
  services.logger = &session_->logger_;
  services.providers = session_->providers_;
  services.files = session_->model_->files;
  services.plan_memory = session_->options_.memory_pattern;
  services.keep_constants = keeps_constants_;
  bool streams = session_->devices_ != nullptr;  // a run's queues belong to one thread
  if (session_->options_.mode == ExecutionMode::kParallel && !streams)
    services.inter_threads = session_->inter_pool_.get();
  session_->compiled_ = std::make_unique<CompiledGraph>(*session_->model_->graph, services);
  if (is_rewritten_) {
    const FormCounts counts = session_->weights_->counts();
    session_->logger_.log(Severity::kInfo, "session_builder.cc compile", "of the prepared model come ", counts.taken,
                          " packed forms of weights; ", counts.made, " others were packed");
  }
  if (keeps_constants_) return;
  session_->compiled_->release_packed_constants();
  for (const auto& file : session_->model_->files) file->release(file->bytes());
}

std::vector<TypeInfo> SessionBuilder::output_types() const {
  std::vector<TypeInfo> types;
  for (const ValueInfo* output : session_->model_->graph->outputs) types.push_back(output->type);
  return types;
}

void SessionBuilder::describe() { describe_values(output_types()); }

void SessionBuilder::set_options(const SessionOptions& options) {
  session_->options_ = options;
  if (options.profile && !session_->profiler_) session_->profiler_ = std::make_unique<Profiler>(options.profile_prefix);
}

void SessionBuilder::set_weights(std::shared_ptr<PackedWeightsCache> weights) {
  session_->weights_ = std::move(weights);
}

void SessionBuilder::describe_values(const std::vector<TypeInfo>& stated_outputs) {
  const Graph& graph = *session_->model_->graph;
  session_->inputs_.clear();
  session_->outputs_.clear();
  session_->overridable_.clear();
  session_->feeds_.clear();
  session_->defaults_.clear();
  session_->required_.clear();
  session_->feed_places_.clear();
  session_->output_places_.clear();
  for (const ValueInfo* input : graph.inputs) {
    auto& list = input->constant ? session_->overridable_ : session_->inputs_;
    list.push_back({input->name, input->type});
    session_->feed_places_.emplace(input->name, session_->feeds_.size());
    session_->feeds_.push_back(input);
    if (!input->constant) session_->required_.push_back(input);
    session_->defaults_.push_back(input->constant ? Value(*input->constant) : Value());
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    session_->outputs_.push_back({graph.outputs[i]->name, reported(graph.outputs[i]->type, stated_outputs[i])});
    session_->output_places_.emplace(graph.outputs[i]->name, i);
  }
}

}  // namespace ortolan::runtime
