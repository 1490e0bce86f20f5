// Every model of Debian's libonnx-testdata, where that is installed: it loads, and survives being written and read.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "../thrown_text.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

namespace ortolan::onnx {
namespace {

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data";

bool same(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return false;
  if (a.type() == ElementType::kString) return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  return a.byte_count() == 0 || std::memcmp(a.raw(), b.raw(), a.byte_count()) == 0;
}

/** Tells how a graph differs from another, "" when it does not. */
std::string difference(const Graph& a, const Graph& b);

std::string difference(const Attribute& a, const Attribute& b) {
  if (a.name != b.name || a.kind() != b.kind()) return "attribute " + a.name;
  if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&a.value)) {
    return difference(**graph, *std::get<std::shared_ptr<Graph>>(b.value));
  }
  if (const auto* tensor = std::get_if<Tensor>(&a.value)) {
    return same(*tensor, std::get<Tensor>(b.value)) ? "" : "tensor " + a.name;
  }
  auto equal = [&]<class T>(const T& value) {
    using std::is_same_v;
    if constexpr (is_same_v<T, float> || is_same_v<T, int64_t> || is_same_v<T, std::string> ||
                  is_same_v<T, std::vector<float>> || is_same_v<T, std::vector<int64_t>> ||
                  is_same_v<T, std::vector<std::string>>) {
      return value == std::get<T>(b.value);
    } else {
      return true;
    }
  };
  return std::visit(equal, a.value) ? "" : "value of " + a.name;
}

std::vector<std::string> names(const std::vector<ValueInfo*>& values) {
  std::vector<std::string> result;
  for (const ValueInfo* value : values) result.push_back(value ? value->name : "");
  return result;
}

std::string difference(const Node& a, const Node& b) {
  if (a.op_type != b.op_type || a.domain != b.domain || a.opset != b.opset || a.name != b.name) return a.label();
  if (names(a.inputs()) != names(b.inputs()) || names(a.outputs()) != names(b.outputs())) return a.label();
  if (a.attributes().size() != b.attributes().size()) return a.label();
  for (size_t i = 0; i < a.attributes().size(); ++i) {
    std::string found = difference(a.attributes()[i], b.attributes()[i]);
    if (!found.empty()) return a.label() + ": " + found;
  }
  return "";
}

std::string difference(const Graph& a, const Graph& b) {
  if (a.nodes().size() != b.nodes().size()) return "node counts";
  if (names(a.inputs) != names(b.inputs) || names(a.outputs) != names(b.outputs)) return "inputs or outputs";
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    std::string found = difference(*a.nodes()[i], *b.nodes()[i]);
    if (!found.empty()) return found;
  }
  for (const auto& value : a.values()) {
    const ValueInfo* other = b.find(value->name);
    if (!other) {
      if (value->consumers.empty() && !value->producer) continue;
      return "value " + value->name;
    }
    if (value->constant.has_value() != other->constant.has_value()) return "constant " + value->name;
    if (value->constant && !same(*value->constant, *other->constant)) return "elements of " + value->name;
    if (join(value->type) != join(other->type)) return "type of " + value->name;
    if (join(value->type.shape) != join(other->type.shape)) return "shape of " + value->name;
  }
  return "";
}

TEST(Testdata, EveryModelSurvivesWritingAndReading) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is not installed";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".onnx") continue;
    ++count;
    try {
      auto model = read_model_file(entry.path().string());
      EXPECT_FALSE(model->graph->outputs.empty()) << entry.path();
      std::string bytes = write_model_bytes(*model);
      auto again = read_model_bytes({std::as_bytes(std::span(bytes)), nullptr});
      EXPECT_EQ(difference(*model->graph, *again->graph), "") << entry.path();
      EXPECT_EQ(model->context->opsets, again->context->opsets);
    } catch (const Error& error) {
      ADD_FAILURE() << entry.path() << ": " << error.what();
    }
  }
  EXPECT_GT(count, 900);
}

TEST(Writer, LargeInitializersMayBeExternal) {
  auto folder = std::filesystem::temp_directory_path() / ("ortolan_writer_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  Model model;
  model.ir_version = 8;
  model.context->opsets[""] = 17;
  model.graph = std::make_unique<Graph>(model.context);
  Tensor large(ElementType::kFloat, Shape{3000});
  for (float& element : large.mutable_span<float>()) element = 1.5f;
  ValueInfo* w = model.graph->add_initializer("w", large);
  ValueInfo* s = model.graph->add_initializer("s", scalar(2.0f));
  ValueInfo* y = model.graph->add_value("y");
  model.graph->add_node("n", "Mul", "", {w, s}, {y});
  model.graph->mark_output(y);
  std::string path = (folder / "m.onnx").string();
  write_model_file(model, path, {.external_file = "m.data", .external_threshold = 1024});
  EXPECT_EQ(std::filesystem::file_size(folder / "m.data"), 12000u);
  EXPECT_LT(std::filesystem::file_size(path), 1000u);
  auto again = read_model_file(path);
  EXPECT_EQ(difference(*model.graph, *again->graph), "");
  write_model_file(*again, path);
  EXPECT_GT(std::filesystem::file_size(path), 12000u);
  again = read_model_file(path);
  write_model_file(*again, path);
  EXPECT_EQ(difference(*model.graph, *read_model_file(path)->graph), "");
  EXPECT_TRUE(
      test::throws("must be a plain name", [&] { write_model_file(model, path, {.external_file = "../m.data"}); }));
  std::filesystem::remove_all(folder);
}

TEST(Writer, InnerNamesDoNotHideOuterOnes) {
  Model model;
  model.ir_version = 8;
  model.context->opsets[""] = 17;
  model.graph = std::make_unique<Graph>(model.context);
  ValueInfo* x = model.graph->add_value("x");
  x->is_input = true;
  model.graph->inputs.push_back(x);
  auto branch = std::make_shared<Graph>(model.context, model.graph.get());
  ValueInfo* hidden = branch->add_value("x");
  branch->add_node("inner", "Neg", "", {x}, {hidden});
  branch->mark_output(hidden);
  ValueInfo* y = model.graph->add_value("y");
  model.graph->add_node("if", "If", "", {x}, {y})->set_attribute("then_branch", branch);
  model.graph->mark_output(y);
  std::string bytes = write_model_bytes(model);
  auto again = read_model_bytes({std::as_bytes(std::span(bytes)), nullptr});
  const Node& inner = *again->graph->nodes()[0]->graph_of("then_branch").nodes()[0];
  EXPECT_EQ(inner.input(0), again->graph->inputs[0]);
}

}  // namespace
}  // namespace ortolan::onnx
