// The models that a soak runs.
#include "models.h"

#include <cmath>

#include "../api/api_test_support.h"

namespace soak {
namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

int64_t between(std::mt19937& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

/** Weights without a pattern, small enough that sums stay moderate. */
std::vector<float> weights(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * std::sin(static_cast<float>(i) * 1.7f);
  return values;
}

void add_weights(ModelWriter& model, const std::string& name, const std::vector<int64_t>& dims, float scale) {
  size_t count = 1;
  for (int64_t dim : dims) count *= static_cast<size_t>(dim);
  const std::vector<float> values = weights(count, scale);
  model.initializer(name, kFloat, dims, values.data(), values.size() * sizeof(float));
}

void add_numbers(ModelWriter& model, const std::string& name, const std::vector<int64_t>& values) {
  model.initializer(name, kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(int64_t));
}

SoakModel products() {
  ModelWriter model;
  model.input("x", kFloat, {"N", "96"});
  add_weights(model, "w1", {96, 256}, 0.1f);
  add_weights(model, "w2", {256, 64}, 0.1f);
  model.node("MatMul", {"x", "w1"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("MatMul", {"b", "w2"}, {"c"});
  model.node("Tanh", {"c"}, {"d"});
  model.node("Sigmoid", {"c"}, {"e"});
  model.node("Mul", {"d", "e"}, {"f"});
  model.node("Softmax", {"f"}, {"y"});
  model.output("y", kFloat, {"N", "64"});
  return {"products", model.bytes(), [](std::mt19937& random) {
            return std::vector<int64_t>{between(random, 0, 40), 96};
          }};
}

SoakModel convolutions() {
  ModelWriter model;
  model.input("x", kFloat, {"N", "3", "H", "W"});
  add_weights(model, "w1", {16, 3, 3, 3}, 0.2f);
  add_weights(model, "w2", {16, 16, 3, 3}, 0.1f);
  const std::string pads = ModelWriter::ints_attribute("pads", {1, 1, 1, 1});
  model.node("Conv", {"x", "w1"}, {"a"}, pads);
  model.node("Relu", {"a"}, {"b"});
  model.node("Conv", {"b", "w2"}, {"c"}, pads);
  model.node("Add", {"c", "b"}, {"d"});
  model.node("GlobalAveragePool", {"d"}, {"y"});
  model.output("y", kFloat, {"N", "16", "1", "1"});
  return {"convolutions", model.bytes(), [](std::mt19937& random) {
            return std::vector<int64_t>{between(random, 1, 3), 3, between(random, 4, 48), between(random, 4, 48)};
          }};
}

SoakModel recurrent() {
  ModelWriter model;
  model.input("x", kFloat, {"T", "N", "32"});
  add_weights(model, "w", {1, 512, 32}, 0.1f);
  add_weights(model, "r", {1, 512, 128}, 0.05f);
  model.node("LSTM", {"x", "w", "r"}, {"all", "last"}, ModelWriter::int_attribute("hidden_size", 128));
  model.node("ReduceMean", {"all"}, {"mean"}, ModelWriter::ints_attribute("axes", {0}));
  model.node("Add", {"mean", "last"}, {"y"});
  model.output("y", kFloat, {"1", "N", "128"});
  return {"recurrent", model.bytes(), [](std::mt19937& random) {
            return std::vector<int64_t>{between(random, 1, 60), between(random, 1, 4), 32};
          }};
}

/** Long enough to be stopped in the middle. */
SoakModel loop() {
  ModelWriter body;
  body.input("i", kInt64, {});
  body.input("go_in", kBool, {});
  body.input("s_in", kFloat, {"N"});
  body.node("Identity", {"go_in"}, {"go"});
  body.node("Sin", {"s_in"}, {"s"});
  body.output("go", kBool, {});
  body.output("s", kFloat, {"N"});
  ModelWriter model;
  model.input("x", kFloat, {"N"});
  const int64_t trips = 3000;
  model.initializer("trips", kInt64, {}, &trips, sizeof trips);
  model.node("Loop", {"trips", "", "x"}, {"y"}, ModelWriter::graph_attribute("body", body));
  model.output("y", kFloat, {"N"});
  return {"loop", model.bytes(), [](std::mt19937& random) { return std::vector<int64_t>{between(random, 1, 500)}; }};
}

SoakModel by_value() {
  ModelWriter model;
  model.input("x", kFloat, {"N"});
  add_numbers(model, "four", {4});
  model.node("NonZero", {"x"}, {"places"});
  model.node("Transpose", {"places"}, {"rows"});
  model.node("GatherND", {"x", "rows"}, {"values"});
  model.node("TopK", {"values", "four"}, {"top", "top_places"});
  model.node("Unique", {"values"}, {"unique"}, ModelWriter::int_attribute("sorted", 1));
  model.node("Concat", {"top", "unique"}, {"y"}, ModelWriter::int_attribute("axis", 0));
  model.output("y", kFloat, {"M"});
  return {"by_value", model.bytes(),
          [](std::mt19937& random) { return std::vector<int64_t>{between(random, 8, 20000)}; }};
}

}  // namespace

const std::vector<SoakModel>& models() {
  static const std::vector<SoakModel> all{products(), convolutions(), recurrent(), loop(), by_value()};
  return all;
}

}  // namespace soak
