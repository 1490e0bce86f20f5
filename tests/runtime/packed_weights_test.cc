// Packed weights: nodes that read equal or shared weights compute what they compute alone.
#include "runtime/kernels/packed_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "model_builder.h"
#include "onnx/writer.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {

Tensor random_floats(Shape shape, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  Tensor tensor(ElementType::kFloat, std::move(shape));
  for (float& value : tensor.mutable_span<float>()) value = distribution(generator);
  return tensor;
}

std::vector<Value> results_of(const Session& session) {
  std::vector<Value> inputs, results(session.outputs().size());
  std::vector<const Value*> values;
  std::vector<const char*> names, wanted;
  for (const SessionValue& input : session.inputs()) {
    inputs.emplace_back(random_floats(input.type.shape.concrete(), 7));
    names.push_back(input.name.c_str());
  }
  for (const Value& value : inputs) values.push_back(&value);
  for (const SessionValue& output : session.outputs()) wanted.push_back(output.name.c_str());
  session.run(nullptr, names, values, wanted, results);
  return results;
}

void expect_equal(const Value& actual, const Value& expected) {
  ASSERT_EQ(actual.tensor().shape(), expected.tensor().shape());
  EXPECT_EQ(std::memcmp(actual.tensor().raw(), expected.tensor().raw(), expected.tensor().byte_count()), 0);
}

/** Transposed convolutions of one input, with these weights. */
Builder transposed_convolutions(std::span<const Tensor> weights) {
  Builder build;
  ValueInfo* x = build.input("x", SymbolicShape(Shape{1, weights[0].shape()[0], 16, 16}));
  for (size_t i = 0; i < weights.size(); ++i) {
    ValueInfo* w = build.graph().add_initializer("w" + std::to_string(i), weights[i]);
    build.graph().mark_output(build.node("ConvTranspose", {x, w}, "y" + std::to_string(i)));
    build.graph().nodes().back()->set_attribute("strides", std::vector<int64_t>{2, 2});
  }
  return build;
}

/** The bytes must outlive it. */
std::unique_ptr<Session> session_of(std::string_view bytes) {
  SessionOptions options;
  options.config["session.use_ort_model_bytes_directly"] = "1";  // so that weights may lie unaligned, as in files
  options.level = RewriteLevel::kNone;
  return Session::from_bytes(environment(), std::as_bytes(std::span(bytes)), options);
}

// A layer's weights are copied to be aligned, and given back once they are packed; the next layer's copy may then lie
// in the same place.
TEST(PackedWeights, OfLayersThatAreAlikeAreTheirOwn) {
  for (int64_t channels : {32, 64, 128}) {
    std::vector<Tensor> weights;
    for (uint32_t i = 0; i < 4; ++i) weights.push_back(random_floats({channels, channels, 4, 4}, i));
    for (size_t padding = 0; padding < 4; ++padding) {
      Builder all = transposed_convolutions(weights);
      all.model->producer_name.assign(padding, 'p');
      std::vector<Value> results = results_of(*session_of(onnx::write_model_bytes(*all.model)));
      for (size_t i = 0; i < weights.size(); ++i) {
        Builder alone = transposed_convolutions({&weights[i], 1});
        expect_equal(results[i], results_of(*session_of(onnx::write_model_bytes(*alone.model)))[0]);
      }
    }
  }
}

struct RecurrentNode {
  std::string op;
  int64_t hidden;
  Tensor r;
};

Builder recurrent_nodes(const Tensor& w, std::span<const RecurrentNode> nodes) {
  Builder build;
  ValueInfo* x = build.input("x", SymbolicShape(Shape{5, 2, w.shape()[2]}));
  ValueInfo* shared = build.graph().add_initializer("w", w);
  for (const RecurrentNode& node : nodes) {
    ValueInfo* r = build.graph().add_initializer("r" + node.op, node.r);
    build.graph().mark_output(build.node(node.op, {x, shared, r}, "y" + node.op));
    Node& made = *build.graph().nodes().back();
    made.set_attribute("hidden_size", node.hidden);
    if (node.op == "GRU") made.set_attribute("linear_before_reset", int64_t{1});
  }
  return build;
}

TEST(PackedWeights, SharedByCellsOfSeveralKindsAreInTheOrderOfEach) {
  const Tensor w = random_floats({1, 192, 32}, 1);
  const RecurrentNode nodes[] = {{"LSTM", 48, random_floats({1, 192, 48}, 2)},
                                 {"GRU", 64, random_floats({1, 192, 64}, 3)}};
  std::vector<Value> results = results_of(*session_of(onnx::write_model_bytes(*recurrent_nodes(w, nodes).model)));
  for (size_t i = 0; i < 2; ++i) {
    Builder alone = recurrent_nodes(w, {&nodes[i], 1});
    expect_equal(results[i], results_of(*session_of(onnx::write_model_bytes(*alone.model)))[0]);
  }
}

}  // namespace
}  // namespace ortolan::runtime
