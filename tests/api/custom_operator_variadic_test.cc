// Custom operators that take any number of inputs of any type.
#include "custom_operator_fixture.h"

namespace {

/** Sums any number of inputs of any type; for variadic and untyped inputs. */
struct CountOp : OrtCustomOp {
  CountOp() : OrtCustomOp{} {
    version = ORT_API_VERSION;
    GetName = [](const OrtCustomOp*) { return "Count"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputType = [](const OrtCustomOp*, size_t) { return kFloat; };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_VARIADIC; };
    GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetVariadicInputMinArity = [](const OrtCustomOp*) { return 2; };
    GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 0; };
    CreateKernelV2 = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*, void** kernel) -> OrtStatusPtr {
      *kernel = nullptr;
      return nullptr;
    };
    KernelComputeV2 = [](void*, OrtKernelContext* context) -> OrtStatusPtr {
      size_t count = 0;
      OrtValue* y = nullptr;
      void* out = nullptr;
      EXPECT_OK(api().KernelContext_GetInputCount(context, &count));
      EXPECT_OK(api().KernelContext_GetOutput(context, 0, nullptr, 0, &y));
      EXPECT_OK(api().GetTensorMutableData(y, &out));
      *static_cast<float*>(out) = static_cast<float>(count);
      return nullptr;
    };
    KernelDestroy = [](void*) {};
  }
};

TEST(CustomOperators, VariadicInputsOfAnyType) {
  CountOp op;
  Env env = make_env();
  ModelWriter model;
  const int64_t number = 5;
  model.input("x", 1, {"N"});
  model.initializer("c", 7, {1}, &number, sizeof number);
  model.node("Count", {"x", "c", "x"}, {"y"}, "", "test.ops");
  model.output("y", 1, {});
  Session session = make_session(env, model.bytes(), options_with(op));
  std::vector<float> result;
  ASSERT_OK(run_floats(session, {1}, result));
  EXPECT_EQ(result, (std::vector<float>{3}));
  ModelWriter too_few;
  too_few.input("x", 1, {"N"});
  too_few.node("Count", {"x"}, {"y"}, "", "test.ops");
  too_few.output("y", 1, {});
  OrtSession* none = nullptr;
  std::string bytes = too_few.bytes();
  EXPECT_REFUSED(api().CreateSessionFromArray(env, bytes.data(), bytes.size(), options_with(op), &none),
                 ORT_INVALID_GRAPH, "has 1 inputs");
}

}  // namespace
