// Runs one node as a model of its own: schema, shape rule, kernel, in each of the ways a session may run it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/session/session.h"

namespace ortolan::test {
using namespace runtime;

/** A tensor of `values`; their count must fit the shape. */
template <class T>
Tensor tensor_of(Shape shape, const std::vector<T>& values) {
  Tensor tensor(kTypeOf<T>, std::move(shape));
  EXPECT_EQ(tensor.element_count(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

/** Uniform random numbers in [low, high) from `seed`, converted to T. */
template <class T>
Tensor random_tensor(Shape shape, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  Tensor tensor(kTypeOf<T>, std::move(shape));
  for (T& value : tensor.mutable_span<T>()) {
    if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(distribution(generator));
    } else {
      value = T(static_cast<float>(distribution(generator)));
    }
  }
  return tensor;
}

/** A node with the values of its inputs. */
struct NodeCase {
  std::string op;
  std::string domain;
  int opset;
  std::vector<std::optional<Value>> inputs = {};
  std::vector<Attribute> attributes = {};
  /** Graph attributes: each is filled by its function in every model that is made of the case. */
  std::vector<std::pair<std::string, std::function<void(Graph&)>>> subgraphs = {};
};

/** What a session knows of the inputs when it is made. */
enum class Way { kKnownShapes, kUnknownShapes, kConstants };

/** Builds a model of the node alone and runs it once, in an environment that such tests share where none is given.
   Throws base::Error as loading or running does. */
std::vector<Value> run_node(const NodeCase& node, Way way, size_t output_count, const SessionOptions& options,
                            RunOptions* run_options = nullptr, std::shared_ptr<Environment> in = nullptr);

/** Called with each node that OpTest ran without an error, until it is replaced; for tests that vary these nodes. */
void set_case_observer(std::function<void(const NodeCase&, size_t output_count, bool deterministic)> observer);

/** Builds a node and runs it. Every run() is done three ways (shapes known before, shapes found during the run, inputs
    as constants) and the results must agree; the first is returned. */
class OpTest {
 public:
  explicit OpTest(std::string op, int opset = 17, std::string domain = "")
      : node_{std::move(op), std::move(domain), opset} {}

  OpTest& input(Value value) {
    node_.inputs.emplace_back(std::move(value));
    return *this;
  }
  template <class T>
  OpTest& input(Shape shape, const std::vector<T>& values) {
    return input(Value(tensor_of<T>(std::move(shape), values)));
  }
  /** An optional input that is left out. */
  OpTest& no_input() {
    node_.inputs.emplace_back(std::nullopt);
    return *this;
  }
  OpTest& attribute(std::string name, AttributeValue value) {
    node_.attributes.push_back({std::move(name), std::move(value)});
    return *this;
  }
  OpTest& ints(std::string name, std::vector<int64_t> values) { return attribute(std::move(name), std::move(values)); }
  OpTest& set(std::string name, int64_t value) { return attribute(std::move(name), value); }
  OpTest& set(std::string name, int value) { return attribute(std::move(name), int64_t{value}); }
  OpTest& set(std::string name, float value) { return attribute(std::move(name), value); }
  OpTest& set(std::string name, const char* value) { return attribute(std::move(name), std::string(value)); }

  /** The outputs. Throws base::Error as loading or running does. */
  std::vector<Value> run(size_t output_count = 1) const;
  /** The one output as a tensor. */
  Tensor run_tensor() const { return run(1)[0].tensor(); }
  /** The text of the error that run() throws; empty when it does not. */
  std::string error(size_t output_count = 1) const;
  const NodeCase& node() const { return node_; }
  /** Do not compare the three ways; for operators that draw random numbers. */
  OpTest& once() {
    once_ = true;
    return *this;
  }

 private:
  NodeCase node_;
  bool once_ = false;
};

/** Bit for bit, NaN equal to NaN, shapes and types included. */
::testing::AssertionResult same_value(const Value& a, const Value& b);

/** Every element of `actual` (float types) within `tolerance * max(1, |expected|)` of `expected`. */
::testing::AssertionResult near(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
                                double tolerance = 1e-5);
/** Every element equal. */
template <class T>
::testing::AssertionResult equal(const Tensor& actual, const Shape& shape, const std::vector<T>& expected) {
  return same_value(actual, tensor_of<T>(shape, expected));
}

/** The value's type, and of a tensor the shape and first elements. */
std::string describe(const Value& value);

/** The elements of a numeric tensor as doubles. */
std::vector<double> doubles(const Tensor& tensor);

/** Prints the seed once, so that a failure can be repeated; ORTOLAN_TEST_SEED sets it. */
uint32_t test_seed();

}  // namespace ortolan::test
