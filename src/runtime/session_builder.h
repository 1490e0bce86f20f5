// The way from a model's bytes to a session.
#pragma once

#include <functional>
#include <memory>

#include "runtime/session.h"

namespace ortolan::onnx {
struct ReadOptions;
}

namespace ortolan::runtime {

/** Builds one session: read, resolve, rewrite, partition, compile. */
class SessionBuilder {
 public:
  SessionBuilder(std::shared_ptr<Environment> environment, const SessionOptions& options,
                 std::shared_ptr<PackedWeightsCache> weights);
  using ReadModel = FunctionRef<std::unique_ptr<Model>(const onnx::ReadOptions&)>;
  std::unique_ptr<Session> build(ReadModel read);

 private:
  void check_cancelled() const;
  void make_threads();
  void make_providers();
  void add_provider(const ProviderRequest& request);
  void make_allocator();
  void resolve();
  void rewrite(RewriteLevel first, RewriteLevel last);
  void assign_nodes();
  void place_values();
  void save_rewritten();
  void compile();
  void describe_values(const std::vector<TypeInfo>& stated_outputs);

  std::unique_ptr<Session> session_;
};

}  // namespace ortolan::runtime
