// Models of nodes that are alike, and the ways in which a session comes to one.
#include "alike_models.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/writer.h"
#include "ort_writer.h"

namespace ortolan::across {
namespace {

constexpr int kOpset = 14;
constexpr size_t kExternalBytes = 1024;  // initializers of at least so many are external data

std::shared_ptr<Environment> environment() {
  static auto& shared = *new std::shared_ptr<Environment>(
      std::make_shared<Environment>(Logger(stderr_sink(), "across", Severity::kWarning)));
  return shared;
}

ValueInfo* add_input(Graph& graph, const CaseInput& input, const std::string& name) {
  ValueInfo* value = graph.add_value(name, TypeInfo::of_tensor(input.type, SymbolicShape(input.shape)));
  value->is_input = true;
  graph.inputs.push_back(value);
  return value;
}

ValueInfo* add_constant(Graph& graph, const CaseInput& input, uint32_t variant, std::string name) {
  ValueInfo* known = graph.find(name);
  return known != nullptr ? known : graph.add_initializer(std::move(name), values_for(input, variant));
}

std::string shared_name(const CaseInput& input, uint32_t variant) {
  return join(name_of(input.type), input.shape, input.low, ":", input.high, "v", variant);
}

std::string new_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "ortolan_across_XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr, ErrorCode::kFail, "no folder can be made like ", folder);
  return folder;
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

std::string AlikeModel::label() const {
  std::string text = shares ? "sharing" : "each its own:";
  if (nodes.size() > 4) return join(text, " ", nodes.size(), " nodes");
  for (const AlikeNode& node : nodes)
    base::append(text, join(" [", node.node->label(), " variant ", node.variant, "]"));
  return text;
}

std::unique_ptr<Model> AlikeModel::make() const {
  auto model = std::make_unique<Model>();
  model->ir_version = 8;
  model->context->opsets = {{"", kOpset}, {"com.microsoft", 1}, {"ortolan", 1}};
  model->graph = std::make_unique<Graph>(model->context);
  Graph& graph = *model->graph;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const auto& [from, variant] = nodes[n];
    std::vector<ValueInfo*> inputs;
    for (size_t i = 0; i < from->inputs.size(); ++i) {
      const CaseInput& input = from->inputs[i];
      const std::string own = join(n, "_", i);
      inputs.push_back(input.kind == CaseInput::Kind::kLeftOut ? nullptr
                       : input.kind == CaseInput::Kind::kGiven
                           ? add_input(graph, input, "x" + own)
                           : add_constant(graph, input, variant, shares ? shared_name(input, variant) : "w" + own));
    }
    ValueInfo* output = graph.add_value(join("y", n));
    Node* node = graph.add_node(join("node", n), from->op, from->domain, std::move(inputs), {output});
    for (const Attribute& attribute : from->attributes) node->set_attribute(attribute.name, attribute.value);
    node->opset = model->context->opsets.at(from->domain);
    graph.mark_output(output);
  }
  return model;
}

std::string name_of(const Place& place) {
  static constexpr const char* kNames[] = {"a graph",          "bytes",      "bytes in place",  "a file",
                                           "an external file", "ORT format", "a prepared model"};
  return join(kNames[static_cast<int>(place.source)], " + ", place.shift);
}

PlacedModel::PlacedModel(const AlikeModel& model, const Place& place) : model_(model), place_(place) {
  if (place.source == Source::kGraph) return;
  std::unique_ptr<Model> made = model.make();
  made->producer_name.assign(place.shift, 'p');
  const bool is_file = place.source == Source::kFile || place.source == Source::kPrepared;
  if (is_file || place.source == Source::kExternalFile) folder_ = new_folder();
  if (place.source == Source::kOrtFormat) {
    bytes_ = write_ort_format(*made);
  } else if (place.source == Source::kExternalFile) {
    write_external(*made);
  } else {
    bytes_ = onnx::write_model_bytes(*made);
    if (is_file) write_file(folder_ + "/model.onnx", bytes_);
  }
}

PlacedModel::~PlacedModel() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void PlacedModel::write_external(const Model& model) {
  std::string data;
  auto place = [&](std::string_view, const Tensor& value) -> std::optional<tensor::ExternalPlace> {
    if (value.byte_count() < kExternalBytes) return std::nullopt;
    data.resize((data.size() + 63) / 64 * 64 + place_.shift);
    const tensor::ExternalPlace at{"weights.bin", data.size(), value.byte_count()};
    data.append(static_cast<const char*>(value.raw()), value.byte_count());
    return at;
  };
  const onnx::PlaceInitializer placing(place);
  onnx::WriteOptions options;
  options.place = &placing;
  onnx::write_model_file(model, folder_ + "/model.onnx", options);
  write_file(folder_ + "/weights.bin", data);
}

std::unique_ptr<Session> PlacedModel::session(SessionOptions options,
                                              std::shared_ptr<PackedWeightsCache> weights) const {
  if (place_.source == Source::kGraph) {
    return Session::from_model(environment(), model_.make(), options, std::move(weights));
  }
  if (place_.source == Source::kPrepared) options.config["ortolan.prepared_model_path"] = folder_ + "/prepared";
  if (!folder_.empty()) {
    return Session::from_file(environment(), folder_ + "/model.onnx", options, std::move(weights));
  }
  if (place_.source == Source::kBytesInPlace) options.config["session.use_ort_model_bytes_directly"] = "1";
  return Session::from_bytes(environment(), std::as_bytes(std::span(bytes_)), options, std::move(weights));
}

std::vector<Tensor> run(const Session& session, const AlikeModel& model, uint32_t variant) {
  std::vector<Value> inputs, results(model.nodes.size());
  std::vector<std::string> names, wanted;
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    const auto& given = model.nodes[n].node->inputs;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].kind != CaseInput::Kind::kGiven) continue;
      names.push_back(join("x", n, "_", i));
      inputs.emplace_back(values_for(given[i], variant));
    }
    wanted.push_back(join("y", n));
  }
  std::vector<const char*> in, out;
  std::vector<const Value*> values;
  for (const std::string& name : names) in.push_back(name.c_str());
  for (const Value& value : inputs) values.push_back(&value);
  for (const std::string& name : wanted) out.push_back(name.c_str());
  session.run(nullptr, in, values, out, results);
  std::vector<Tensor> tensors;
  for (Value& result : results) tensors.push_back(result.tensor());
  return tensors;
}

}  // namespace ortolan::across
