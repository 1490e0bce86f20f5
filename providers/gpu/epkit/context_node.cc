// Groups to nodes and back: attributes, names of inputs and outputs, the file beside the model.
#include "gpu/epkit/context_node.h"

#include <algorithm>
#include <climits>

#include "gpu/epkit/context_file.h"
#include "gpu/epkit/node_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::gpu::epkit {
namespace {

namespace fs = std::filesystem;

std::string entry_of(const Host& host, const OrtSessionOptions* session, const char* key) {
  int is_there = 0;
  check(host, host.api->HasSessionConfigEntry(session, key, &is_there));
  if (is_there == 0) return "";
  size_t size = 0;
  host.api->ReleaseStatus(host.api->GetSessionConfigEntry(session, key, nullptr, &size));
  std::string value(size, '\0');
  check(host, host.api->GetSessionConfigEntry(session, key, value.data(), &size));
  return value.c_str();
}

fs::path source_path(const Host& host, const OrtGraph* graph) {
  const char* path = nullptr;
  check(host, host.api->Graph_GetModelPath(graph, &path));
  return path == nullptr ? "" : path;
}

/** Attributes that a node takes over; those that it did not are released. */
class Attributes {
 public:
  explicit Attributes(const Host& host) : host_(host) {}
  ~Attributes() {
    for (OrtOpAttr* attribute : list_) host_.api->ReleaseOpAttr(attribute);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  void add(const char* name, const std::string& text) { add(name, text.data(), text.size(), ORT_OP_ATTR_STRING); }
  void add(const char* name, int64_t number) { add(name, &number, 1, ORT_OP_ATTR_INT); }
  std::vector<OrtOpAttr*>& list() { return list_; }

 private:
  void add(const char* name, const void* data, size_t length, OrtOpAttrType type) {
    list_.push_back(nullptr);
    check(host_, host_.api->CreateOpAttr(name, data, static_cast<int>(length), type, &list_.back()));
  }

  const Host& host_;
  std::vector<OrtOpAttr*> list_;
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<int>& values) {
  std::vector<std::string> names;
  for (int value : values) names.push_back(graph.values[value].name);
  return names;
}

/** A name that says what is in the file. */
std::string file_name(const fs::path& model, std::span<const std::byte> content) {
  XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return model.stem().string() + "_" + digits + ".bin";
}

HostBytes read_content(const Host& host, const ContextOptions& options, const OrtGraph* graph, const OrtNode* node) {
  const OrtOpAttr* content = find_attribute(host, node, kContextContent);
  if (content == nullptr) fail(ORT_INVALID_GRAPH, std::string("it has no ") + kContextContent);
  const OrtOpAttr* mode = find_attribute(host, node, "embed_mode");
  if (mode == nullptr || read_one<int64_t>(host, mode, ORT_OP_ATTR_INT) != 0) {
    auto bytes = std::make_shared<std::vector<std::byte>>(read_list<std::byte>(host, content, ORT_OP_ATTR_STRING));
    return {*bytes, bytes};
  }
  fs::path source = source_path(host, graph), beside = source.empty() ? options.model : source;
  std::string name = read_text(host, content);
  if (beside.empty()) {
    fail(ORT_INVALID_GRAPH, "nothing says where its file '" + name + "' is, as the model comes from memory; set the " +
                                "session entry ep.context_file_path");
  }
  fs::path folder = beside.parent_path();
  return map_context_file(folder.empty() ? "." : folder, source, name);
}

/** The place of each of `names` among `among`. */
size_t place_of(const std::string& name, const std::vector<std::string>& among) {
  auto found = std::find(among.begin(), among.end(), name);
  if (found == among.end()) fail(ORT_INVALID_GRAPH, "the runtime does not give value '" + name + "'");
  return static_cast<size_t>(found - among.begin());
}

void check_count(size_t has, size_t wanted, const char* what) {
  if (has == wanted) return;
  fail(ORT_INVALID_GRAPH, "it has " + std::to_string(has) + ' ' + what + ", the compiled group " +
                              std::to_string(wanted) + "; compile the model again");
}

/** Inputs and outputs of the group, which are those of the node by position, as the fused node has them. */
void connect(const Host& host, const OrtNode* node, const OrtNode* fused_node, Graph& group,
             std::vector<int>& input_positions) {
  std::vector<std::string> inputs = names_of(host, inputs_of(host, node)),
                           outputs = names_of(host, outputs_of(host, node)),
                           given = names_of(host, inputs_of(host, fused_node));
  check_count(inputs.size(), group.inputs.size(), "inputs");
  check_count(outputs.size(), group.outputs.size(), "outputs");
  for (const std::string& input : inputs) input_positions.push_back(static_cast<int>(place_of(input, given)));
  std::vector<int> wanted;
  for (const std::string& output : names_of(host, outputs_of(host, fused_node))) {
    wanted.push_back(group.outputs[place_of(output, outputs)]);
  }
  group.outputs = std::move(wanted);
}

}  // namespace

ContextOptions read_context_options(const Host& host, const OrtSessionOptions* session) {
  ContextOptions options;
  options.wanted = entry_of(host, session, "ep.context_enable") == "1";
  options.embedded = entry_of(host, session, "ep.context_embed_mode") == "1";
  options.model = entry_of(host, session, "ep.context_file_path");
  options.name_prefix = entry_of(host, session, "ep.context_node_name_prefix");
  return options;
}

bool is_context_node(std::string_view domain, std::string_view op) {
  return op == "EPContext" && domain == "com.microsoft";
}

std::string refuse_context(const Node& node, const std::string& provider) {
  std::string source = node.text("source", "");
  if (source == provider) return "";
  return "it holds what provider '" + source + "' compiled, which " + provider + " cannot read";
}

bool holds_context(const Host& host, const OrtGraph* graph) {
  std::vector<const OrtNode*> nodes = nodes_of(host, graph);
  return nodes.size() == 1 && operator_of(host, nodes[0]) == "EPContext";
}

Graph read_context(const Host& host, const ContextOptions& options, const DeviceTraits& traits, const OrtGraph* graph,
                   const OrtNode* fused_node, std::vector<int>& input_positions) {
  const OrtNode* node = nodes_of(host, graph).at(0);
  const std::string where = "node '" + name_of(host, node) + "' (EPContext): ";
  try {
    Graph group = load_group(read_content(host, options, graph, node));
    judge_again(group, traits);
    connect(host, node, fused_node, group, input_positions);
    return group;
  } catch (const Failure& failure) {
    fail(failure.code, where + failure.text);
  } catch (const Error& error) {
    fail(ORT_INVALID_GRAPH, where + error.what());
  }
}

const char* stored_format() {
  static_assert(kStoredGroupVersion == 1);
  return "gpu group 1";
}

OrtCompiledModelCompatibility judge_format(std::string_view format) {
  return format == stored_format() ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
                                   : OrtCompiledModelCompatibility_EP_UNSUPPORTED;
}

/** What the node says of the group: a file's name, or the content itself. */
std::string ContextWriter::place(const OrtGraph* graph, std::span<const std::byte> content) const {
  if (options_.embedded) {
    if (content.size() > INT_MAX) {
      fail(ORT_INVALID_ARGUMENT, "a compiled group of " + std::to_string(content.size()) + " bytes is too large for " +
                                     "the model itself; set ep.context_embed_mode to 0");
    }
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }
  fs::path source = source_path(host_, graph), model = options_.model;
  if (model.empty() && source.empty()) {
    fail(ORT_INVALID_ARGUMENT, "nothing says where the files of the compiled model go; set ep.context_file_path, or " +
                                   std::string("ep.context_embed_mode to 1"));
  }
  if (model.empty()) model = source.parent_path() / (source.stem().string() + "_ctx.onnx");
  std::string name = file_name(model, content);
  write_context_file(model.parent_path() / name, content);
  return name;
}

OrtNode* ContextWriter::make(const OrtGraph* graph, const OrtNode* fused_node, const Graph& group) const {
  std::string name = name_of(host_, fused_node);
  if (!name.starts_with(options_.name_prefix)) name = options_.name_prefix + name;
  Attributes attributes(host_);
  attributes.add("source", provider_);
  attributes.add("main_context", 1);
  attributes.add("embed_mode", options_.embedded ? 1 : 0);
  attributes.add(kContextContent, place(graph, store_group(group)));
  attributes.add("partition_name", name);
  attributes.add("ep_sdk_version", version_);
  attributes.add("hardware_architecture", traits_.name);
  std::vector<std::string> inputs = names_of(group, group.inputs), outputs = names_of(group, group.outputs);
  OrtNode* node = nullptr;
  check(host_,
        host_.api->GetModelEditorApi()->CreateNode("EPContext", "com.microsoft", name.c_str(), pointers(inputs).data(),
                                                   inputs.size(), pointers(outputs).data(), outputs.size(),
                                                   attributes.list().data(), attributes.list().size(), &node));
  return node;
}

}  // namespace ortolan::gpu::epkit
