// Custom operators: callbacks by version, what kernels learn, use and call, shape inference, registration.
#include <atomic>

#include "custom_operator_fixture.h"

namespace {

/** y = x * factor + bias, with everything a kernel may ask for asked once. */
struct ScaleKernel {
  float factor = 0;
  int64_t bias = 0;
  OrtKernelInfo* info = nullptr;
};

std::atomic<int> kernels_alive{0};

void learn_about_node(const OrtKernelInfo* info) {
  size_t count = 0;
  EXPECT_OK(api().KernelInfo_GetInputCount(info, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().KernelInfo_GetOutputCount(info, &count));
  EXPECT_EQ(count, 1u);
  char text[32];
  size_t size = 0;
  EXPECT_OK(api().KernelInfo_GetInputName(info, 0, nullptr, &size));
  EXPECT_EQ(size, 2u);
  EXPECT_OK(api().KernelInfo_GetInputName(info, 0, text, &size));
  EXPECT_STREQ(text, "x");
  size = sizeof text;
  EXPECT_OK(api().KernelInfo_GetOutputName(info, 0, text, &size));
  EXPECT_STREQ(text, "y");
  EXPECT_REFUSED(api().KernelInfo_GetOutputName(info, 1, text, &size), ORT_FAIL, "index 1");
  size = sizeof text;
  EXPECT_OK(api().KernelInfo_GetNodeName(info, text, &size));
  EXPECT_STREQ(text, "Scale_node");
  size = sizeof text;
  EXPECT_OK(api().KernelInfo_GetOperatorType(info, text, &size));
  EXPECT_STREQ(text, "Scale");
  size = sizeof text;
  EXPECT_OK(api().KernelInfo_GetOperatorDomain(info, text, &size));
  EXPECT_STREQ(text, "test.ops");
  int since = 0;
  EXPECT_OK(api().KernelInfo_GetOperatorSinceVersion(info, &since));
  EXPECT_EQ(since, 1);
  TypeInfo type;
  EXPECT_OK(api().KernelInfo_GetInputTypeInfo(info, 0, type.out()));
  EXPECT_OK(api().KernelInfo_GetOutputTypeInfo(info, 0, type.out()));
  int is_constant = 0;
  const OrtValue* constant = nullptr;
  EXPECT_OK(api().KernelInfoGetConstantInput_tensor(info, 1, &is_constant, &constant));
  EXPECT_EQ(is_constant, 1);
  EXPECT_EQ(content<float>(constant), (std::vector<float>{0.5f}));
  EXPECT_OK(api().KernelInfoGetConstantInput_tensor(info, 0, &is_constant, &constant));
  EXPECT_EQ(is_constant, 0);
  const OrtLogger* logger = nullptr;
  OrtLoggingLevel level;
  EXPECT_OK(api().KernelInfo_GetLogger(info, &logger));
  EXPECT_OK(api().Logger_GetLoggingSeverityLevel(logger, &level));
  EXPECT_OK(api().Logger_LogMessage(logger, ORT_LOGGING_LEVEL_VERBOSE, "hello", "dir/file.cc", 3, "function"));
  OrtAllocator* allocator = nullptr;
  EXPECT_OK(api().KernelInfoGetAllocator(info, OrtMemTypeDefault, &allocator));
  api().ReleaseAllocator(allocator);
  KeyValuePairs config;
  EXPECT_OK(api().KernelInfo_GetConfigEntries(info, config.out()));
  EXPECT_STREQ(api().GetKeyValue(config, "test.key"), "7");
}

void read_attributes(const OrtKernelInfo* info) {
  char text[8];
  size_t size = sizeof text;
  EXPECT_OK(api().KernelInfoGetAttribute_string(info, "name", text, &size));
  EXPECT_STREQ(text, "abc");
  size = 2;
  EXPECT_REFUSED(api().KernelInfoGetAttribute_string(info, "name", text, &size), ORT_INVALID_ARGUMENT, "room for 2");
  EXPECT_EQ(size, 4u);
  int64_t ints[3];
  size = 0;
  EXPECT_OK(api().KernelInfoGetAttributeArray_int64(info, "ints", nullptr, &size));
  EXPECT_EQ(size, 3u);
  EXPECT_OK(api().KernelInfoGetAttributeArray_int64(info, "ints", ints, &size));
  EXPECT_EQ(ints[2], 3);
  float numbers[2];
  size = 2;
  EXPECT_OK(api().KernelInfoGetAttributeArray_float(info, "floats", numbers, &size));
  EXPECT_EQ(numbers[1], 2.5f);
  char** strings = nullptr;
  EXPECT_OK(api().KernelInfoGetAttributeArray_string(info, "strings", default_allocator(), &strings, &size));
  ASSERT_EQ(size, 2u);
  EXPECT_EQ(take(strings[0]), "a");
  EXPECT_EQ(take(strings[1]), "bc");
  EXPECT_OK(api().AllocatorFree(default_allocator(), strings));
  Value tensor;
  EXPECT_OK(api().KernelInfoGetAttribute_tensor(info, "tensor", default_allocator(), tensor.out()));
  EXPECT_EQ(content<float>(tensor), (std::vector<float>{8, 9}));
  float missing = 0;
  EXPECT_REFUSED(api().KernelInfoGetAttribute_float(info, "nope", &missing), ORT_FAIL, "no attribute 'nope'");
  EXPECT_REFUSED(api().KernelInfoGetAttribute_float(info, "name", &missing), ORT_FAIL, "another type");
}

OrtStatusPtr make_scale(const OrtCustomOp*, const OrtApi* table, const OrtKernelInfo* info, void** kernel) {
  EXPECT_EQ(table, &api());
  auto made = std::make_unique<ScaleKernel>();
  if (OrtStatus* status = table->KernelInfoGetAttribute_float(info, "factor", &made->factor)) return status;
  if (OrtStatus* status = table->KernelInfoGetAttribute_int64(info, "bias", &made->bias)) return status;
  learn_about_node(info);
  read_attributes(info);
  EXPECT_OK(table->CopyKernelInfo(info, &made->info));
  ++kernels_alive;
  *kernel = made.release();
  return nullptr;
}

struct Work {
  const float* x;
  float* y;
  const ScaleKernel* kernel;
};

OrtStatusPtr run_scale(void* kernel, OrtKernelContext* context) {
  size_t count = 0;
  EXPECT_OK(api().KernelContext_GetInputCount(context, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().KernelContext_GetOutputCount(context, &count));
  EXPECT_EQ(count, 1u);
  const OrtValue* x = nullptr;
  OrtValue* y = nullptr;
  if (OrtStatus* status = api().KernelContext_GetInput(context, 0, &x)) return status;
  EXPECT_REFUSED(api().KernelContext_GetInput(context, 2, &x), ORT_FAIL, "index 2 is out of range");
  std::vector<int64_t> dims = shape_of(x);
  if (OrtStatus* status = api().KernelContext_GetOutput(context, 0, dims.data(), dims.size(), &y)) return status;
  const void* in = nullptr;
  void *out = nullptr, *stream = &in, *scratch = nullptr, *resource = &in;
  EXPECT_OK(api().GetTensorData(x, &in));
  EXPECT_OK(api().GetTensorMutableData(y, &out));
  EXPECT_OK(api().KernelContext_GetGPUComputeStream(context, &stream));
  EXPECT_EQ(stream, nullptr);
  EXPECT_OK(api().KernelContext_GetResource(context, 1, 1, &resource));
  EXPECT_EQ(resource, nullptr);
  EXPECT_OK(api().KernelContext_GetScratchBuffer(context, cpu_memory(), 256, &scratch));
  std::memset(scratch, 0, 256);
  OrtAllocator* allocator = nullptr;
  EXPECT_OK(api().KernelContext_GetAllocator(context, cpu_memory(), &allocator));
  api().ReleaseAllocator(allocator);
  const OrtLogger* logger = nullptr;
  EXPECT_OK(api().KernelContext_GetLogger(context, &logger));
  Work work{static_cast<const float*>(in), static_cast<float*>(out), static_cast<ScaleKernel*>(kernel)};
  auto one = [](void* data, size_t i) {
    auto& w = *static_cast<Work*>(data);
    w.y[i] = w.x[i] * w.kernel->factor + static_cast<float>(w.kernel->bias);
  };
  EXPECT_OK(api().KernelContext_ParallelFor(context, one, content<float>(x).size(), 2, &work));
  if (work.x[0] < 0) return api().CreateStatus(ORT_EP_FAIL, "the first number is negative");
  return nullptr;
}

void end_scale(void* kernel) {
  auto* made = static_cast<ScaleKernel*>(kernel);
  size_t count = 0;
  EXPECT_OK(api().KernelInfo_GetInputCount(made->info, &count)) << "a copied info lives on";
  api().ReleaseKernelInfo(made->info);
  delete made;
  --kernels_alive;
}

OrtStatusPtr infer_scale(const OrtCustomOp*, OrtShapeInferContext* context) {
  size_t count = 0;
  EXPECT_OK(api().ShapeInferContext_GetInputCount(context, &count));
  EXPECT_EQ(count, 2u);
  const OrtOpAttr* attribute = nullptr;
  float factor = 0;
  size_t size = 0;
  EXPECT_OK(api().ShapeInferContext_GetAttribute(context, "factor", &attribute));
  EXPECT_OK(api().ReadOpAttr(attribute, ORT_OP_ATTR_FLOAT, &factor, sizeof factor, &size));
  EXPECT_EQ(factor, 3.0f);
  OrtTensorTypeAndShapeInfo* info = nullptr;
  EXPECT_OK(api().ShapeInferContext_GetInputTypeShape(context, 0, &info));
  return api().ShapeInferContext_SetOutputTypeShape(context, 0, info);
}

/** The operator as a program built for this API level writes it. */
struct ScaleOp : OrtCustomOp {
  ScaleOp() : OrtCustomOp{} {
    version = ORT_API_VERSION;
    GetName = [](const OrtCustomOp*) { return "Scale"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return "CPUExecutionProvider"; };
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
    GetInputType = [](const OrtCustomOp*, size_t) { return kFloat; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputType = [](const OrtCustomOp*, size_t) { return kFloat; };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    CreateKernelV2 = make_scale;
    KernelComputeV2 = run_scale;
    KernelDestroy = end_scale;
    InferOutputShapeFn = infer_scale;
    GetStartVersion = [](const OrtCustomOp*) { return 1; };
    GetEndVersion = [](const OrtCustomOp*) { return 2; };
  }
};

std::string scale_model() {
  ModelWriter model;
  model.opset_import("test.ops", 1);
  const float half = 0.5f;
  model.input("x", 1, {"N"});
  model.initializer("c", 1, {1}, &half, sizeof half);
  model.node("Scale", {"x", "c"}, {"y"},
             ModelWriter::float_attribute("factor", 3) + ModelWriter::int_attribute("bias", 1) +
                 ModelWriter::string_attribute("name", "abc") + ModelWriter::ints_attribute("ints", {1, 2, 3}) +
                 ModelWriter::floats_attribute("floats", {1.5f, 2.5f}) +
                 ModelWriter::strings_attribute("strings", {"a", "bc"}) +
                 ModelWriter::tensor_attribute("tensor", {8, 9}),
             "test.ops");
  model.output("y", 1, {});
  return model.bytes();
}

TEST(CustomOperators, LearnComputeAndFail) {
  ScaleOp op;
  Env env = make_env();
  {
    Session session = make_session(env, scale_model(), options_with(op));
    EXPECT_EQ(kernels_alive, 1);
    std::vector<float> result;
    ASSERT_OK(run_floats(session, {1, 2, 3}, result));
    EXPECT_EQ(result, (std::vector<float>{4, 7, 10}));
    EXPECT_REFUSED(run_floats(session, {-1}, result), ORT_EP_FAIL, "the first number is negative");
    TypeInfo type;
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    const char* symbol = nullptr;
    ASSERT_OK(api().SessionGetOutputTypeInfo(session, 0, type.out()));
    EXPECT_OK(api().CastTypeInfoToTensorInfo(type, &tensor));
    EXPECT_OK(api().GetSymbolicDimensions(tensor, &symbol, 1));
    EXPECT_STREQ(symbol, "N") << "shape inference of the operator names the dimension";
  }
  EXPECT_EQ(kernels_alive, 0);
}

/** As programs of API level 1 wrote them: no status, nothing after KernelDestroy. */
struct OldOp : OrtCustomOp {
  OldOp() : OrtCustomOp{} {
    std::memset(static_cast<OrtCustomOp*>(this), 0x5a, sizeof(OrtCustomOp));
    version = 7;
    GetName = [](const OrtCustomOp*) { return "Scale"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
    GetInputType = [](const OrtCustomOp*, size_t) { return kFloat; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    CreateKernel = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*) -> void* { return &kernels_alive; };
    KernelCompute = [](void*, OrtKernelContext* context) {
      const OrtValue* x = nullptr;
      OrtValue* y = nullptr;
      void* out = nullptr;
      EXPECT_OK(api().KernelContext_GetInput(context, 0, &x));
      std::vector<float> data = content<float>(x);
      auto count = static_cast<int64_t>(data.size());
      EXPECT_OK(api().KernelContext_GetOutput(context, 0, &count, 1, &y));
      EXPECT_OK(api().GetTensorMutableData(y, &out));
      for (size_t i = 0; i < data.size(); ++i) static_cast<float*>(out)[i] = -data[i];
    };
    KernelDestroy = [](void*) {};
  }
};

TEST(CustomOperators, NewerMembersOfOldOnesAreNotRead) {
  OldOp op;
  Env env = make_env();
  Session session = make_session(env, scale_model(), options_with(op));
  std::vector<float> result;
  ASSERT_OK(run_floats(session, {1, 2}, result));
  EXPECT_EQ(result, (std::vector<float>{-1, -2}));
}

TEST(CustomOperators, AKernelThatCannotBeMadeSaysWhy) {
  ScaleOp op;
  op.CreateKernelV2 = [](const OrtCustomOp*, const OrtApi* table, const OrtKernelInfo*, void**) -> OrtStatusPtr {
    return table->CreateStatus(ORT_INVALID_ARGUMENT, "not today");
  };
  Env env = make_env();
  std::string bytes = scale_model();
  OrtSession* session = nullptr;
  EXPECT_REFUSED(api().CreateSessionFromArray(env, bytes.data(), bytes.size(), options_with(op), &session),
                 ORT_INVALID_ARGUMENT, "node 'Scale_node' (Scale): not today");
}

/** Calls two operators of the library: y = x - Softmax(x). */
struct CallerKernel {
  Handle<OrtOp, &OrtApi::ReleaseOp> softmax, subtract;
};

OrtStatusPtr make_caller(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info, void** kernel) {
  auto made = std::make_unique<CallerKernel>();
  Handle<OrtOpAttr, &OrtApi::ReleaseOpAttr> axis;
  const int64_t last = -1;
  EXPECT_OK(api().CreateOpAttr("axis", &last, 1, ORT_OP_ATTR_INT, axis.out()));
  const OrtOpAttr* attributes[] = {axis};
  EXPECT_OK(api().CreateOp(info, "Softmax", "", 13, nullptr, nullptr, 0, attributes, 1, 1, 1, made->softmax.out()));
  EXPECT_OK(api().CreateOp(info, "Sub", "", 14, nullptr, nullptr, 0, nullptr, 0, 2, 1, made->subtract.out()));
  OrtOp* none = nullptr;
  EXPECT_REFUSED(api().CreateOp(info, "Nothing", "", 14, nullptr, nullptr, 0, nullptr, 0, 2, 1, &none),
                 ORT_NOT_IMPLEMENTED, "no operator 'Nothing'");
  *kernel = made.release();
  return nullptr;
}

OrtStatusPtr run_caller(void* kernel, OrtKernelContext* context) {
  auto& ops = *static_cast<CallerKernel*>(kernel);
  const OrtValue* x = nullptr;
  OrtValue* y = nullptr;
  Value middle;
  EXPECT_OK(api().KernelContext_GetInput(context, 0, &x));
  std::vector<int64_t> dims = shape_of(x);
  EXPECT_OK(api().KernelContext_GetOutput(context, 0, dims.data(), dims.size(), &y));
  EXPECT_OK(api().CreateTensorAsOrtValue(default_allocator(), dims.data(), dims.size(), kFloat, middle.out()));
  OrtValue* results[] = {middle};
  if (OrtStatus* status = api().InvokeOp(context, ops.softmax, &x, 1, results, 1)) return status;
  const OrtValue* inputs[] = {x, middle};
  results[0] = y;
  return api().InvokeOp(context, ops.subtract, inputs, 2, results, 1);
}

TEST(CustomOperators, CallOperatorsOfTheLibrary) {
  ScaleOp op;
  op.InferOutputShapeFn = nullptr;
  op.CreateKernelV2 = make_caller;
  op.KernelComputeV2 = run_caller;
  op.KernelDestroy = [](void* kernel) { delete static_cast<CallerKernel*>(kernel); };
  Env env = make_env();
  Session session = make_session(env, scale_model(), options_with(op));
  std::vector<float> result;
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(run_floats(session, {2, 2}, result));
    EXPECT_EQ(result, (std::vector<float>{1.5f, 1.5f}));
  }
  ASSERT_OK(run_floats(session, {3, 3, 3, 3}, result));
  EXPECT_EQ(result, (std::vector<float>(4, 2.75f)));
}

TEST(CustomOperators, LibrariesMustExistAndRegister) {
  SessionOptions options;
  void* handle = nullptr;
  ASSERT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_REFUSED(api().RegisterCustomOpsLibrary(options, "/nonexistent.so", &handle), ORT_FAIL, "/nonexistent.so");
  EXPECT_REFUSED(api().RegisterCustomOpsLibrary_V2(options, "/nonexistent.so"), ORT_FAIL, "/nonexistent.so");
  EXPECT_REFUSED(api().RegisterCustomOpsLibrary_V2(options, "libm.so.6"), ORT_FAIL, "'RegisterCustomOps'");
  EXPECT_REFUSED(api().RegisterCustomOpsUsingFunction(options, "no_such_function_here"), ORT_FAIL,
                 "'no_such_function_here'");
}

}  // namespace
