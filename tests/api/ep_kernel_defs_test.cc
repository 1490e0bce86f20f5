// Descriptions of plugins' kernels, their registries, and schemas of operators.
#include <climits>
#include <set>

#include "ep_test_support.h"

namespace {

TEST(KernelDef, NewBuilderHasDefaults) {
  KernelDefBuilder builder;
  EXPECT_OK(ep_api().CreateKernelDefBuilder(builder.out()));
  KernelDef def;
  EXPECT_OK(ep_api().KernelDefBuilder_Build(builder, def.out()));
  EXPECT_STREQ(ep_api().KernelDef_GetOperatorType(def), "");
  EXPECT_STREQ(ep_api().KernelDef_GetDomain(def), "");
  EXPECT_STREQ(ep_api().KernelDef_GetExecutionProvider(def), "");
  int first = 0, last = 0;
  EXPECT_OK(ep_api().KernelDef_GetSinceVersion(def, &first, &last));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, INT_MAX);
  OrtMemType memory = OrtMemTypeCPUInput;
  EXPECT_OK(ep_api().KernelDef_GetInputMemType(def, 1000, &memory));
  EXPECT_EQ(memory, OrtMemTypeDefault);
}

TEST(KernelDef, TellsWhatTheBuilderWasTold) {
  KernelDefBuilder builder;
  EXPECT_OK(ep_api().CreateKernelDefBuilder(builder.out()));
  EXPECT_OK(ep_api().KernelDefBuilder_SetOperatorType(builder, "Loop"));
  EXPECT_OK(ep_api().KernelDefBuilder_SetDomain(builder, "ai.onnx"));
  EXPECT_OK(ep_api().KernelDefBuilder_SetExecutionProvider(builder, "Tester"));
  EXPECT_OK(ep_api().KernelDefBuilder_SetSinceVersion(builder, 7, 13));
  EXPECT_OK(ep_api().KernelDefBuilder_SetInputMemType(builder, 1, OrtMemTypeCPUInput));
  EXPECT_OK(ep_api().KernelDefBuilder_SetOutputMemType(builder, 2, OrtMemTypeCPUOutput));
  const int pair[] = {0};
  EXPECT_OK(ep_api().KernelDefBuilder_AddInputOutputAliases(builder, pair, pair, 1));
  EXPECT_OK(ep_api().KernelDefBuilder_AddInputOutputMutableAliases(builder, pair, pair, 1));
  KernelDef def;
  EXPECT_OK(ep_api().KernelDefBuilder_Build(builder, def.out()));
  builder = {};
  EXPECT_STREQ(ep_api().KernelDef_GetOperatorType(def), "Loop");
  EXPECT_STREQ(ep_api().KernelDef_GetDomain(def), "ai.onnx");
  EXPECT_STREQ(ep_api().KernelDef_GetExecutionProvider(def), "Tester");
  int first = 0, last = 0;
  EXPECT_OK(ep_api().KernelDef_GetSinceVersion(def, &first, &last));
  EXPECT_EQ(first, 7);
  EXPECT_EQ(last, 13);
  OrtMemType memory[4] = {};
  EXPECT_OK(ep_api().KernelDef_GetInputMemType(def, 0, &memory[0]));
  EXPECT_OK(ep_api().KernelDef_GetInputMemType(def, 1, &memory[1]));
  EXPECT_OK(ep_api().KernelDef_GetOutputMemType(def, 1, &memory[2]));
  EXPECT_OK(ep_api().KernelDef_GetOutputMemType(def, 2, &memory[3]));
  EXPECT_EQ(memory[0], OrtMemTypeDefault);
  EXPECT_EQ(memory[1], OrtMemTypeCPUInput);
  EXPECT_EQ(memory[2], OrtMemTypeDefault);
  EXPECT_EQ(memory[3], OrtMemTypeCPUOutput);
}

TEST(KernelDef, WrongUsesAreRefused) {
  KernelDefBuilder builder;
  EXPECT_OK(ep_api().CreateKernelDefBuilder(builder.out()));
  EXPECT_REFUSED(ep_api().KernelDefBuilder_SetSinceVersion(builder, 0, 3), ORT_INVALID_ARGUMENT, "start is 0");
  EXPECT_REFUSED(ep_api().KernelDefBuilder_SetSinceVersion(builder, 7, 6), ORT_INVALID_ARGUMENT, "end is 6");
  const OrtDataType* type = nullptr;
  EXPECT_OK(ep_api().GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &type));
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddTypeConstraint(builder, nullptr, &type, 1), ORT_INVALID_ARGUMENT,
                 "arg_name");
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddTypeConstraint(builder, "T", &type, 0), ORT_INVALID_ARGUMENT,
                 "num_types is 0");
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddTypeConstraint(builder, "T", nullptr, 1), ORT_INVALID_ARGUMENT, "types");
  const OrtDataType* none = nullptr;
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddTypeConstraint(builder, "T", &none, 1), ORT_INVALID_ARGUMENT, "types[i]");
  const int index = 0;
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddInputOutputAliases(builder, &index, &index, 0), ORT_INVALID_ARGUMENT,
                 "num_io_indices is 0");
  EXPECT_REFUSED(ep_api().KernelDefBuilder_AddInputOutputMutableAliases(builder, nullptr, &index, 1),
                 ORT_INVALID_ARGUMENT, "input_indices");
}

TEST(DataType, OneObjectForEachElementType) {
  std::set<const OrtDataType*> seen;
  for (int number = 1; number <= 26; ++number) {
    const OrtDataType *type = nullptr, *again = nullptr;
    EXPECT_OK(ep_api().GetTensorDataType(static_cast<ONNXTensorElementDataType>(number), &type));
    EXPECT_OK(ep_api().GetTensorDataType(static_cast<ONNXTensorElementDataType>(number), &again));
    EXPECT_NE(type, nullptr);
    EXPECT_EQ(type, again);
    seen.insert(type);
  }
  EXPECT_EQ(seen.size(), 26u);
  for (int number : {0, 27, 99}) {
    const OrtDataType* type = nullptr;
    EXPECT_REFUSED(ep_api().GetTensorDataType(static_cast<ONNXTensorElementDataType>(number), &type),
                   ORT_NOT_IMPLEMENTED, std::to_string(number));
    EXPECT_EQ(type, nullptr);
  }
}

OrtStatus* ORT_API_CALL never_called(void*, const OrtKernelInfo*, OrtKernelImpl**) { return nullptr; }

TEST(KernelRegistry, NeedsDescriptionAndFunction) {
  KernelDefBuilder builder;
  EXPECT_OK(ep_api().CreateKernelDefBuilder(builder.out()));
  KernelDef def;
  EXPECT_OK(ep_api().KernelDefBuilder_Build(builder, def.out()));
  KernelRegistry registry;
  EXPECT_OK(ep_api().CreateKernelRegistry(registry.out()));
  EXPECT_OK(ep_api().KernelRegistry_AddKernel(registry, def, never_called, nullptr));
  EXPECT_REFUSED(ep_api().KernelRegistry_AddKernel(registry, def, nullptr, nullptr), ORT_INVALID_ARGUMENT, "func");
  EXPECT_REFUSED(ep_api().KernelRegistry_AddKernel(registry, nullptr, never_called, nullptr), ORT_INVALID_ARGUMENT,
                 "kernel_def");
  EXPECT_REFUSED(ep_api().KernelRegistry_AddKernel(nullptr, def, never_called, nullptr), ORT_INVALID_ARGUMENT,
                 "kernel_registry");
}

/** With an environment, because the official library knows operators once there is one. */
class OpSchemaTest : public testing::Test {
  const Env env_ = make_env();
};

OpSchema schema_of(const char* name, int version, const char* domain = "") {
  OpSchema schema;
  EXPECT_OK(ep_api().GetOpSchema(name, version, domain, schema.out()));
  return schema;
}

int since_of(const OrtOpSchema* schema) {
  int since = 0;
  EXPECT_OK(ep_api().OpSchema_GetSinceVersion(schema, &since));
  return since;
}

std::vector<std::string> allowed_types(const OrtOpSchemaTypeConstraint* constraint) {
  const char* const* types = nullptr;
  size_t count = 0;
  EXPECT_OK(ep_api().OpSchemaTypeConstraint_GetAllowedTypes(constraint, &types, &count));
  return {types, types + count};
}

using Indices = OrtStatusPtr(ORT_API_CALL*)(const OrtOpSchemaTypeConstraint*, const size_t**, size_t*) NO_EXCEPTION;

std::vector<size_t> indices(Indices get, const OrtOpSchemaTypeConstraint* constraint) {
  const size_t* items = nullptr;
  size_t count = 0;
  EXPECT_OK(get(constraint, &items, &count));
  return {items, items + count};
}

TEST_F(OpSchemaTest, IsThatOfTheVersion) {
  EXPECT_EQ(since_of(schema_of("Add", 13)), 13);
  EXPECT_EQ(since_of(schema_of("Add", 12)), 7);
  EXPECT_EQ(since_of(schema_of("Add", 999)), 14);
  EXPECT_EQ(since_of(schema_of("Add", 1, "ai.onnx")), 1);
  EXPECT_EQ(since_of(schema_of("Attention", 1, "com.microsoft")), 1);
  EXPECT_EQ(schema_of("Add", 0), nullptr);
  EXPECT_EQ(schema_of("Add", 13, "com.microsoft.unknown"), nullptr);
  EXPECT_EQ(schema_of("NoSuchOperator", 13), nullptr);
}

TEST_F(OpSchemaTest, NamesInputsOutputsAndTypes) {
  OpSchema schema = schema_of("Loop", 13);
  size_t count = 0;
  EXPECT_OK(ep_api().OpSchema_GetNumInputs(schema, &count));
  ASSERT_EQ(count, 3u);
  const char* name = nullptr;
  EXPECT_OK(ep_api().OpSchema_GetInputName(schema, 1, &name));
  EXPECT_STREQ(name, "cond");
  EXPECT_OK(ep_api().OpSchema_GetNumOutputs(schema, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_OK(ep_api().OpSchema_GetOutputName(schema, 0, &name));
  EXPECT_STREQ(name, "v_final_and_scan_outputs");
  EXPECT_OK(ep_api().OpSchema_GetTypeConstraintCount(schema, &count));
  ASSERT_EQ(count, 3u);
  const OrtOpSchemaTypeConstraint *of_condition = nullptr, *of_states = nullptr, *of_output = nullptr;
  EXPECT_OK(ep_api().OpSchema_GetInputTypeConstraint(schema, 1, &of_condition));
  EXPECT_OK(ep_api().OpSchema_GetInputTypeConstraint(schema, 2, &of_states));
  EXPECT_OK(ep_api().OpSchema_GetOutputTypeConstraint(schema, 0, &of_output));
  EXPECT_EQ(of_states, of_output);
  EXPECT_OK(ep_api().OpSchemaTypeConstraint_GetTypeParamName(of_condition, &name));
  EXPECT_STREQ(name, "B");
  EXPECT_EQ(allowed_types(of_condition), std::vector<std::string>{"tensor(bool)"});
  EXPECT_EQ(indices(ep_api().OpSchemaTypeConstraint_GetInputIndices, of_condition), std::vector<size_t>{1});
  EXPECT_TRUE(indices(ep_api().OpSchemaTypeConstraint_GetOutputIndices, of_condition).empty());
  EXPECT_EQ(indices(ep_api().OpSchemaTypeConstraint_GetOutputIndices, of_states), std::vector<size_t>{0});
  EXPECT_EQ(allowed_types(of_states).back(), "seq(tensor(complex128))");
}

TEST_F(OpSchemaTest, NamesOfTypesMayHaveSpaces) {
  OpSchema schema = schema_of("ZipMap", 1, "ai.onnx.ml");
  const OrtOpSchemaTypeConstraint* constraint = nullptr;
  EXPECT_OK(ep_api().OpSchema_GetOutputTypeConstraint(schema, 0, &constraint));
  EXPECT_EQ(allowed_types(constraint), (std::vector<std::string>{"seq(map(string, float))", "seq(map(int64, float))"}));
}

TEST_F(OpSchemaTest, FixedTypesHaveNoConstraint) {
  const OrtOpSchemaTypeConstraint* constraint = nullptr;
  EXPECT_OK(ep_api().OpSchema_GetInputTypeConstraint(schema_of("ArgMax", 13), 0, &constraint));
  EXPECT_NE(constraint, nullptr);
  EXPECT_OK(ep_api().OpSchema_GetOutputTypeConstraint(schema_of("ArgMax", 13), 0, &constraint));
  EXPECT_EQ(constraint, nullptr);
}

TEST_F(OpSchemaTest, WrongUsesAreRefused) {
  OpSchema schema = schema_of("Add", 13);
  const char* name = nullptr;
  const OrtOpSchemaTypeConstraint* constraint = nullptr;
  EXPECT_REFUSED(ep_api().OpSchema_GetInputName(schema, 2, &name), ORT_INVALID_ARGUMENT, "index 2");
  EXPECT_REFUSED(ep_api().OpSchema_GetOutputName(schema, 1, &name), ORT_INVALID_ARGUMENT, "index 1");
  EXPECT_REFUSED(ep_api().OpSchema_GetTypeConstraint(schema, 1, &constraint), ORT_INVALID_ARGUMENT, "index 1");
  EXPECT_REFUSED(ep_api().OpSchema_GetOutputTypeConstraint(schema, 9, &constraint), ORT_INVALID_ARGUMENT, "index 9");
  EXPECT_REFUSED(ep_api().OpSchema_GetSinceVersion(nullptr, nullptr), ORT_INVALID_ARGUMENT, "schema");
  OpSchema unused;
  EXPECT_REFUSED(ep_api().GetOpSchema(nullptr, 13, "", unused.out()), ORT_INVALID_ARGUMENT, "name");
  EXPECT_REFUSED(ep_api().GetOpSchema("Add", 13, nullptr, unused.out()), ORT_INVALID_ARGUMENT, "domain");
}

}  // namespace
