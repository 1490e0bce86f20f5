// Sessions: the same results in every mode and by any number of threads, outputs that share nothing, clear errors.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <future>
#include <thread>

#include "../thrown_text.h"
#include "model_builder.h"
#include "runtime/session/session_entries.h"

namespace ortolan::runtime {
namespace {

using test::error_of;

constexpr int64_t kWidth = 8;

SymbolicShape rows_by_width(ModelContext& context) {
  return SymbolicShape(DimVector{context.symbols.named("N"), Dim(kWidth)});
}

/** Sixteen branches of y = tanh(x + i) * x, added up in a chain; `known` fixes the number of rows to 2. */
std::unique_ptr<Model> branches(bool known) {
  Builder build;
  SymbolicShape shape = known ? SymbolicShape(Shape{2, kWidth}) : rows_by_width(*build.model->context);
  ValueInfo* x = build.input("x", shape);
  ValueInfo* sum = x;
  for (int i = 0; i < 16; ++i) {
    std::string n = std::to_string(i);
    ValueInfo* offset = build.graph().add_initializer("c" + n, scalar<float>(static_cast<float>(i) / 16));
    ValueInfo* branch =
        build.node("Mul", {build.node("Tanh", {build.node("Add", {x, offset}, "a" + n)}, "t" + n), x}, "m" + n);
    sum = build.node("Add", {sum, branch}, "s" + n);
  }
  build.graph().mark_output(sum);
  return std::move(build.model);
}

Tensor ramp(int64_t rows) {
  Tensor tensor(ElementType::kFloat, Shape{rows, kWidth});
  for (int64_t i = 0; i < rows * kWidth; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i % 23) / 7 - 1;
  return tensor;
}

std::vector<double> expected(const Tensor& x) {
  std::vector<double> result;
  for (float value : x.span<float>()) {
    double sum = value;
    for (int i = 0; i < 16; ++i) sum += std::tanh(value + i / 16.0) * value;
    result.push_back(sum);
  }
  return result;
}

Tensor run(const Session& session, const Tensor& x, RunOptions* options = nullptr) {
  Value value(x);
  const Value* values[] = {&value};
  const char *in[] = {"x"}, *out[] = {"s15"};
  Value result;
  session.run(options, in, values, out, std::span(&result, 1));
  return result.tensor();
}

void expect_right(const Session& session, int64_t rows) {
  Tensor x = ramp(rows), y = run(session, x);
  ASSERT_EQ(join(y.shape()), join(x.shape()));
  auto wanted = expected(x);
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(y.data<float>()[i], wanted[i], 1e-4) << "element " << i;
}

TEST(Session, GivesTheSameInEveryMode) {
  for (bool known : {true, false}) {
    for (ExecutionMode mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
      for (bool plan : {true, false}) {
        SessionOptions options;
        options.mode = mode;
        options.memory_pattern = plan;
        options.intra_op_threads = options.inter_op_threads = 2;
        auto session = Session::from_model(environment(), branches(known), options);
        for (int repeat = 0; repeat < 4; ++repeat) expect_right(*session, 2);
      }
    }
  }
}

TEST(Session, FollowsChangingShapes) {
  auto session = Session::from_model(environment(), branches(false), SessionOptions());
  for (int64_t rows : {1, 3, 3, 3, 1, 1, 0, 0, 0, 7, 3, 7, 1}) expect_right(*session, rows);
}

TEST(Session, RunsOnManyThreadsAtOnce) {
  SessionOptions options;
  options.intra_op_threads = 2;
  auto session = Session::from_model(environment(), branches(false), options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20; ++repeat) expect_right(*session, 1 + (i + repeat) % 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Session, OutputsShareNothing) {
  Builder build;
  ValueInfo* x = build.input("x", Shape{2, kWidth});
  build.graph().mark_output(build.node("Identity", {x}, "same"));
  build.graph().mark_output(build.node(
      "Reshape", {x, build.graph().add_initializer("shape", vector_tensor<int64_t>(std::vector<int64_t>{-1}))},
      "flat"));
  auto session = Session::from_model(environment(), std::move(build.model), SessionOptions());
  Tensor tensor = ramp(2);
  Value value(tensor);
  const Value* values[] = {&value};
  const char *in[] = {"x"}, *out[] = {"same", "flat"};
  std::vector<Value> results(2);
  session->run(nullptr, in, values, out, results);
  const void *given = tensor.raw(), *same = results[0].tensor().raw(), *flat = results[1].tensor().raw();
  EXPECT_NE(same, given);
  EXPECT_NE(flat, given);
  EXPECT_NE(flat, same);

  const char* twice[] = {"same", "same"};
  std::vector<Value> two(2);
  session->run(nullptr, in, values, twice, two);
  EXPECT_NE(two[0].tensor().raw(), two[1].tensor().raw());
  EXPECT_EQ(std::memcmp(two[0].tensor().raw(), two[1].tensor().raw(), two[0].tensor().byte_count()), 0);
}

TEST(Session, WritesBoundOutputsInPlace) {
  auto session = Session::from_model(environment(), branches(true), SessionOptions());
  Value x(ramp(2)), y(Tensor(ElementType::kFloat, Shape{2, kWidth}));
  const void* memory = y.tensor().raw();
  const Value* values[] = {&x};
  const char *in[] = {"x"}, *out[] = {"s15"};
  session->run(nullptr, in, values, out, std::span(&y, 1));
  EXPECT_EQ(y.tensor().raw(), memory);
  EXPECT_NEAR(y.tensor().data<float>()[3], expected(x.tensor())[3], 1e-4);
  Value wrong(Tensor(ElementType::kFloat, Shape{3, kWidth}));
  std::string text = error_of([&] { session->run(nullptr, in, values, out, std::span(&wrong, 1)); });
  EXPECT_NE(text.find("[2,8]"), std::string::npos) << text;
  EXPECT_NE(text.find("[3,8]"), std::string::npos) << text;
}

TEST(Session, RunsLater) {
  auto session = Session::from_model(environment(), branches(true), SessionOptions());
  Value x(ramp(2));
  std::vector<Value> results(1);
  std::promise<std::string> done;
  session->run_async(nullptr, {"x"}, {&x}, {"s15"}, results,
                     [&](const Error* error) { done.set_value(error ? error->text() : "fine"); });
  EXPECT_EQ(done.get_future().get(), "fine");
  EXPECT_NEAR(results[0].tensor().data<float>()[5], expected(x.tensor())[5], 1e-4);
}

TEST(Session, StopsWhenAsked) {
  auto session = Session::from_model(environment(), branches(true), SessionOptions());
  RunOptions options;
  options.terminate = true;
  std::string text = error_of([&] { run(*session, ramp(2), &options); });
  EXPECT_NE(text.find("terminate is set"), std::string::npos) << text;
  options.terminate = false;
  EXPECT_EQ(error_of([&] { run(*session, ramp(2), &options); }), "");
}

TEST(Session, SaysWhatIsWrongWithARun) {
  auto session = Session::from_model(environment(), branches(true), SessionOptions());
  EXPECT_NE(error_of([&] { run(*session, ramp(3)); }).find("input 'x' has shape [2,8] in the model"),
            std::string::npos);
  Value numbers(Tensor(ElementType::kInt64, Shape{2, kWidth}));
  const Value* values[] = {&numbers};
  const char *in[] = {"x"}, *out[] = {"s15"}, *other[] = {"z"};
  Value result;
  auto run_with = [&](std::span<const char* const> names, std::span<const Value* const> given,
                      const char* const* output) {
    return error_of([&] { session->run(nullptr, names, given, std::span(output, 1), std::span(&result, 1)); });
  };
  EXPECT_NE(run_with(in, values, out).find("holds int64"), std::string::npos);
  EXPECT_NE(run_with({}, {}, out).find("input 'x' is missing"), std::string::npos);
  EXPECT_NE(run_with(other, values, out).find("has no input 'z'; its inputs are 'x'"), std::string::npos);
  Value right(ramp(2));
  const Value* good[] = {&right};
  EXPECT_NE(run_with(in, good, other).find("has no output 'z'; its outputs are 's15'"), std::string::npos);
}

TEST(Session, RefusesAnUnknownPrecision) {
  SessionOptions options;
  options.config["ortolan.cpu.fp32_precision"] = "double";
  std::string text = error_of([&] { Session::from_model(environment(), branches(true), options); });
  EXPECT_EQ(text,
            "session entry 'ortolan.cpu.fp32_precision': fp32 precision 'double' is unknown; it must be 'x6' (or "
            "'default'), 'exact', 'x3' or 'bf16'");
  for (const char* known : {"x6", "default", "exact", "x3", "bf16"}) {
    options.config["ortolan.cpu.fp32_precision"] = known;
    expect_right(*Session::from_model(environment(), branches(true), options), 2);
  }
}

TEST(Session, SwitchForBfloat16OnArm64YieldsToThePrecision) {
#if defined(__aarch64__)
  constexpr auto kFast = base::Fp32Precision::kBf16;
#else
  constexpr auto kFast = base::Fp32Precision::kX6;
#endif
  SessionOptions options;
  EXPECT_EQ(precision_of(options), base::Fp32Precision::kX6);
  options.config["mlas.enable_gemm_fastmath_arm64_bfloat16"] = "0";
  EXPECT_EQ(precision_of(options), base::Fp32Precision::kX6);
  options.config["mlas.enable_gemm_fastmath_arm64_bfloat16"] = "1";
  EXPECT_EQ(precision_of(options), kFast);
  options.config["ortolan.cpu.fp32_precision"] = "exact";
  EXPECT_EQ(precision_of(options), base::Fp32Precision::kExact);
}

}  // namespace
}  // namespace ortolan::runtime
