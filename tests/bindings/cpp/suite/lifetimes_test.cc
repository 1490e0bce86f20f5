// Who owns what: moves, borrowed views, objects without content, errors that pass by.
#include <algorithm>
#include <memory>
#include <sstream>
#include <thread>

#include "support.h"

namespace {

static_assert(!std::is_copy_constructible_v<Ort::Session> && !std::is_copy_assignable_v<Ort::Session>);
static_assert(std::is_nothrow_move_constructible_v<Ort::Session> && std::is_nothrow_move_assignable_v<Ort::Session>);
static_assert(std::is_nothrow_move_constructible_v<Ort::Value> && std::is_nothrow_move_assignable_v<Ort::Value>);
static_assert(std::is_copy_constructible_v<Ort::ConstValue> && std::is_copy_assignable_v<Ort::ConstEpDevice>);
static_assert(!std::is_convertible_v<std::nullptr_t, Ort::Session> &&
              !std::is_convertible_v<OrtSession*, Ort::Session>);
static_assert(std::is_convertible_v<Ort::MemoryInfo, const OrtMemoryInfo*>);
static_assert(std::is_same_v<Ort::Session::contained_type, OrtSession>);

TEST(Ownership, Moves) {
  Ort::Session first = open("add");
  OrtSession* const raw = first;
  Ort::Session second = std::move(first);
  EXPECT_EQ(static_cast<OrtSession*>(first), nullptr);  // NOLINT: part of the interface
  EXPECT_EQ(static_cast<OrtSession*>(second), raw);
  first = std::move(second);
  Ort::Session third{nullptr};
  third = std::move(first);
  EXPECT_EQ(third.GetInputCount(), 2u);
  third = open("mlp");  // releases what it had
  EXPECT_EQ(third.GetInputCount(), 1u);
  EXPECT_EQ(&*third, static_cast<OrtSession*>(third));
}

TEST(Ownership, IsGivenUpAndTaken) {
  Ort::SessionOptions options;
  OrtSessionOptions* raw = options.release();
  EXPECT_EQ(static_cast<OrtSessionOptions*>(options), nullptr);
  const Ort::SessionOptions taken(raw);
  EXPECT_EQ(open("add", taken).GetInputCount(), 2u);
  std::vector<Ort::Value> many(3);
  std::vector<float> data{1, 2};
  many[1] = tensor_over(data);
  many.insert(many.begin(), tensor_over(data));
  EXPECT_EQ(many[2].GetTensorData<float>(), data.data());
}

TEST(Ownership, ViewsBorrow) {
  std::vector<float> data{1, 2};
  const Ort::Value value = tensor_over(data);
  const Ort::ConstValue view = value.GetConst();
  const Ort::ConstValue copy = view;
  Ort::UnownedValue writable = value.GetUnowned();
  writable.At<float>({0}) = 9;
  EXPECT_EQ(copy.At<float>({0}), 9);
  const Ort::ConstValue empty;
  EXPECT_EQ(static_cast<const OrtValue*>(empty), nullptr);
}

TEST(Ownership, OptionsMayEndBeforeTheSession) {
  auto options = std::make_unique<Ort::SessionOptions>();
  options->SetLogId("short-lived");
  Ort::Session session(test_env(), model_path("add").c_str(), *options);
  options.reset();
  EXPECT_EQ(session.GetOutputCount(), 2u);
}

TEST(Ownership, OutputsOutliveTheSession) {
  std::vector<Ort::Value> results;
  std::vector<float> x(32, 0.5f);
  const auto input = tensor_over(x, {1, 32});
  {
    Ort::Session session = open("mlp");
    const char *inputs[] = {"x"}, *outputs[] = {"y"};
    results = session.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1);
  }
  EXPECT_EQ(elements<float>(results[0]).size(), 32u);
}

TEST(Ownership, ConstructorsThatFailLeakNothing) {
  const std::vector<std::string> too_many{"rows", "columns"};
  for (int i = 0; i < 100; ++i) {
    expect_error(ORT_INVALID_PROTOBUF, "broken.onnx", [] { open("broken"); });
    expect_error(ORT_INVALID_ARGUMENT, "2 names for 1 dimensions",
                 [&] { Ort::TensorTypeAndShapeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {1}, &too_many); });
  }
}

TEST(Status, CarriesErrors) {
  const Ort::Status none, null{nullptr};
  EXPECT_TRUE(none.IsOK() && null.IsOK());
  EXPECT_EQ(none.GetErrorCode(), ORT_OK);
  EXPECT_EQ(none.GetErrorMessage(), "");
  const Ort::Status failed("text", ORT_EP_FAIL);
  EXPECT_FALSE(failed.IsOK());
  EXPECT_EQ(failed.GetErrorMessage(), "text");
  EXPECT_EQ(Ort::Status(Ort::Exception("other", ORT_NO_MODEL)).GetErrorCode(), ORT_NO_MODEL);
  EXPECT_EQ(Ort::Status(std::runtime_error("plain")).GetErrorCode(), ORT_FAIL);
  expect_error(ORT_EP_FAIL, "text", [&] { Ort::ThrowOnError(failed); });
  expect_error(ORT_FAIL, "raw", [] { Ort::ThrowOnError(Ort::GetApi().CreateStatus(ORT_FAIL, "raw")); });
  EXPECT_NO_THROW(Ort::ThrowOnError(none));
  EXPECT_TRUE(Ort::Status(Ort::GetApi().CreateStatus(ORT_OK, "")).IsOK());
  auto returning = []() -> Ort::Status {
    ORT_CXX_RETURN_ON_API_FAIL(Ort::GetApi().CreateStatus(ORT_FAIL, "returned"));
    return Ort::Status{};
  };
  EXPECT_EQ(returning().GetErrorMessage(), "returned");
}

TEST(Library, SaysWhatItIs) {
  EXPECT_EQ(Ort::GetVersionString().rfind("1.31.", 0), 0u);
  EXPECT_FALSE(Ort::GetBuildInfoString().empty());
  const auto providers = Ort::GetAvailableProviders();
  EXPECT_NE(std::find(providers.begin(), providers.end(), "CPUExecutionProvider"), providers.end());
  EXPECT_NE(&Ort::GetModelEditorApi(), nullptr);
  EXPECT_NE(&Ort::GetCompileApi(), nullptr);
  EXPECT_NE(&Ort::GetEpApi(), nullptr);
  EXPECT_NE(&Ort::GetInteropApi(), nullptr);
  Ort::InitApi(&Ort::GetApi());  // as libraries do that were given the table
  EXPECT_EQ(open("add").GetInputCount(), 2u);
}

TEST(Environment, OfEveryKind) {
  Ort::ThreadingOptions threading;
  threading.SetGlobalIntraOpNumThreads(2).SetGlobalInterOpNumThreads(1).SetGlobalSpinControl(0);
  threading.SetGlobalDenormalAsZero();
  Ort::Env env(threading, ORT_LOGGING_LEVEL_ERROR, "threads");
  env.DisableTelemetryEvents().EnableTelemetryEvents().UpdateEnvWithCustomLogLevel(ORT_LOGGING_LEVEL_ERROR);
  OrtEnvCreationOptions options{};
  options.version = ORT_API_VERSION;
  options.logging_severity_level = ORT_LOGGING_LEVEL_ERROR;
  options.log_id = "options";
  const Ort::Env another(&options);
  EXPECT_EQ(static_cast<OrtEnv*>(another), static_cast<OrtEnv*>(env));  // there is one a process
  Ort::Env empty{nullptr};
  empty = std::move(env);
  Ort::SessionOptions session_options;
  EXPECT_EQ(Ort::Session(empty, model_path("add").c_str(), session_options).GetInputCount(), 2u);
}

TEST(Environment, OutlivesNothingThatUsesIt) {
  auto env = std::make_unique<Ort::Env>(ORT_LOGGING_LEVEL_ERROR, "short");
  Ort::Session session(*env, model_path("add").c_str(), Ort::SessionOptions());
  env.reset();
  std::vector<float> a{1}, b{2};
  std::vector<Ort::Value> given;
  given.push_back(tensor_over(a));
  given.push_back(tensor_over(b));
  const char *inputs[] = {"a", "b"}, *outputs[] = {"sum"};
  EXPECT_EQ(session.Run(Ort::RunOptions{}, inputs, given.data(), 2, outputs, 1)[0].At<float>({0}), 3);
}

}  // namespace
