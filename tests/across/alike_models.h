// Models of nodes that are alike, and the ways in which a session comes to one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operator_cases.h"
#include "runtime/session/session.h"

namespace ortolan::across {
using namespace runtime;

struct AlikeNode {
  const OperatorCase* node;
  uint32_t variant;  // of its constants
};

/** Nodes side by side. Node n has inputs "xn_i" and the output "yn". */
struct AlikeModel {
  std::vector<AlikeNode> nodes;
  bool shares = false;  // constants of equal values are one initializer
  std::string label() const;
  std::unique_ptr<Model> make() const;
};

/** Where a session finds its model. In files, elements lie `shift` bytes further than in that without. */
enum class Source { kGraph, kBytes, kBytesInPlace, kFile, kExternalFile, kOrtFormat, kPrepared };
struct Place {
  Source source;
  size_t shift = 0;
};
std::string name_of(const Place& place);

/** A model in a place, which goes with it. Sessions may be made at the same time. */
class PlacedModel {
 public:
  PlacedModel(const AlikeModel& model, const Place& place);
  ~PlacedModel();
  PlacedModel(const PlacedModel&) = delete;
  PlacedModel& operator=(const PlacedModel&) = delete;
  std::unique_ptr<Session> session(SessionOptions options, std::shared_ptr<PackedWeightsCache> weights) const;

 private:
  void write_external(const Model& model);

  const AlikeModel& model_;
  Place place_;
  std::string bytes_, folder_;
};

/** Gives each node the inputs of operator_cases(), of that variant, and returns all outputs, in order. */
std::vector<Tensor> run(const Session& session, const AlikeModel& model, uint32_t variant = 0);

}  // namespace ortolan::across
