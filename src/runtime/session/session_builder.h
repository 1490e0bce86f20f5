// The way from a model's bytes to a session.
#pragma once

#include <functional>
#include <memory>

#include "runtime/session/session.h"

namespace ortolan::onnx {
struct ReadOptions;
}

namespace ortolan::runtime {

class PreparedModel;
struct CompiledOutput;

/** Builds one session: read, resolve, rewrite, partition, compile. */
class SessionBuilder {
 public:
  SessionBuilder(std::shared_ptr<Environment> environment, const SessionOptions& options,
                 std::shared_ptr<PackedWeightsCache> weights);
  using ReadModel = FunctionRef<std::unique_ptr<Model>(const onnx::ReadOptions&)>;
  std::unique_ptr<Session> build(ReadModel read);
  /** Goes as far as the providers' compiled groups, and writes the model with an EPContext node for each. */
  void write_compiled(ReadModel read, const CompiledOutput& output);
  /** Writes what a session of the model maps instead of making it anew. For sessions on the CPU alone. */
  void write_prepared(ReadModel read, const std::string& path, const std::string& key);
  /** The model that build() reads is that one: it is not rewritten, and its packed weights are there. */
  void take_prepared(std::shared_ptr<const PreparedModel> prepared);

  /** The two halves of build(). Between them the model may be changed, and is told of by describe(). */
  void load(ReadModel read);
  std::unique_ptr<Session> finish();
  Model& model() { return *session_->model_; }
  /** Names and types of the session's inputs and outputs as the model states them; nothing else of it is there. */
  const Session& session() const { return *session_; }
  void describe();
  /** Replaces what the constructor was given. */
  void set_options(const SessionOptions& options);
  void set_weights(std::shared_ptr<PackedWeightsCache> weights);

 private:
  void prepare();
  void partition_nodes(const CompiledOutput* output);
  void check_cancelled() const;
  void start_profiling();
  void make_threads();
  void make_providers();
  void add_provider(const ProviderRequest& request);
  void set_options_of(const ProviderRequest& request);
  void make_allocator();
  void bound_runs();
  void resolve();
  template <class Use>
  void with_passes(Use&& use);
  void rewrite(RewriteLevel first, RewriteLevel last);
  void assign_nodes();
  void place_values();
  bool stands_for_runs(const ExecutionProvider& provider) const;
  void save_rewritten();
  void compile();
  void check_weightless() const;
  std::vector<std::pair<std::string, std::string>> compatibility_infos() const;
  void describe_values(const std::vector<TypeInfo>& stated_outputs);
  std::vector<TypeInfo> output_types() const;

  std::unique_ptr<Session> session_;
  bool is_rewritten_ = false;  // already
  bool keeps_constants_ = false;
};

}  // namespace ortolan::runtime
