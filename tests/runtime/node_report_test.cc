// What a profile says of nodes: kernels, instruction sets, arithmetic, bytes, types and shapes.
#include "runtime/execution/node_report.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/cpu_features.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "model_builder.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {

using Json = nlohmann::json;

Tensor filled(Shape shape) {
  Tensor tensor(ElementType::kFloat, std::move(shape));
  std::ranges::fill(tensor.mutable_span<float>(), 0.5f);
  return tensor;
}

/** y = pool(conv(reshape(relu(x * w)))), of x[4, 8]. */
std::unique_ptr<Model> chain() {
  Builder build;
  Graph& graph = build.graph();
  ValueInfo* x = build.input("x", Shape{4, 8});
  ValueInfo* product = build.node("MatMul", {x, graph.add_initializer("w", filled(Shape{8, 16}))}, "product");
  ValueInfo* relu = build.node("Relu", {product}, "relu");
  ValueInfo* shape = graph.add_initializer("s", vector_tensor<int64_t>(std::vector<int64_t>{1, 1, 8, 8}));
  ValueInfo* plane = build.node("Reshape", {relu, shape}, "plane");
  ValueInfo* conv = build.node("Conv", {plane, graph.add_initializer("k", filled(Shape{2, 1, 3, 3}))}, "conv");
  ValueInfo* pool = build.node("MaxPool", {conv}, "pool");
  pool->producer->set_attribute("kernel_shape", AttributeValue(std::vector<int64_t>{2, 2}));
  graph.mark_output(pool);
  return std::move(build.model);
}

/** y = sigmoid(x) * u - 1, of x[4, 8]; u is one value, or one a column. */
std::unique_ptr<Model> elementwise(const Shape& u) {
  Builder build;
  Graph& graph = build.graph();
  ValueInfo* gate = build.node("Sigmoid", {build.input("x", Shape{4, 8})}, "gate");
  ValueInfo* scaled = build.node("Mul", {gate, graph.add_initializer("u", filled(u))}, "scaled");
  graph.mark_output(build.node("Sub", {scaled, graph.add_initializer("one", filled({}))}, "pool"));
  return std::move(build.model);
}

/** The arguments of each node's event in the profile of one run, by the node's name. */
std::map<std::string, Json> profile(std::unique_ptr<Model> model = chain(), RewriteLevel level = RewriteLevel::kNone) {
  SessionOptions options;
  options.profile = true;
  options.level = level;
  options.profile_prefix = join(::testing::TempDir(), "node_report_test_", getpid());
  auto session = Session::from_model(environment(), std::move(model), options);
  Value x(filled(Shape{4, 8})), result;
  const Value* values[] = {&x};
  const char *in[] = {"x"}, *out[] = {"pool"};
  session->run(nullptr, in, values, out, std::span(&result, 1));
  std::string path = session->end_profiling();
  std::ifstream file(path);
  std::map<std::string, Json> nodes;
  for (const Json& event : Json::parse(file)) {
    std::string name = event["name"];
    if (event["cat"] == "Node") nodes[name.substr(0, name.rfind("_kernel_time"))] = event["args"];
  }
  std::filesystem::remove(path);
  return nodes;
}

TEST(NodeReport, TellsKernelWorkAndShapes) {
  auto nodes = profile();
  Json product = nodes["product"];
  EXPECT_EQ(product["op_name"], "MatMul");
  EXPECT_EQ(product["provider"], "CPUExecutionProvider");
  EXPECT_EQ(product["kernel"], "gemm_f32 packed 4x8x16");
  EXPECT_TRUE(product["isa"].is_string());
  EXPECT_EQ(product["flops"], join(2 * 4 * 8 * 16));
  EXPECT_EQ(product["bytes"], join(4 * (4 * 8 + 8 * 16 + 4 * 16)));
  EXPECT_EQ(product["parameter_size"], join(4 * 8 * 16));
  EXPECT_EQ(product["activation_size"], join(4 * 4 * 8));
  EXPECT_EQ(product["output_size"], join(4 * 4 * 16));
  EXPECT_EQ(product["input_type_shape"].dump(), R"([{"float":[4,8]},{"float":[8,16]}])");
  EXPECT_EQ(product["output_type_shape"].dump(), R"([{"float":[4,16]}])");
  EXPECT_GT(std::stoll(product["duration_ns"].get<std::string>()), 0);
}

TEST(NodeReport, NamesWhatHasNoNameOfItsOwn) {
  auto nodes = profile();
  EXPECT_EQ(nodes["pool"]["kernel"], "max_pool");
  EXPECT_EQ(nodes["pool"]["flops"], join(2 * 5 * 5 * 4));
  EXPECT_EQ(nodes["relu"]["kernel"], "relu");
  EXPECT_EQ(nodes["conv"]["kernel"].get<std::string>().rfind("conv_f32 ", 0), 0u);
  EXPECT_EQ(nodes["plane"]["flops"], "0");
}

TEST(NodeReport, NamesTheMembersOfAnElementwiseChain) {
  auto nodes = profile(elementwise({8}), RewriteLevel::kAll);
  ASSERT_EQ(nodes.size(), 1u);
  Json chain = nodes["pool"];
  EXPECT_EQ(chain["op_name"], "ElementwiseChain");
  EXPECT_EQ(chain["kernel"], "chain Sigmoid 'gate' + Mul 'scaled' + Sub 'pool'");
  EXPECT_EQ(chain["flops"], join(3 * 4 * 8));
  EXPECT_EQ(chain["bytes"], join(4 * (2 * 4 * 8 + 8 + 1)));
  EXPECT_EQ(chain["parameter_size"], join(4 * 9));
}

/** Every instruction set that this processor has runs under its own name. */
TEST(NodeReport, NamesTheInstructionSetInUse) {
  for (const cpu::kernels::KernelTable& table : cpu::kernels::kernel_tables()) {
    if (table.split_f32 != nullptr || !cpu::kernels::use_isa(table.isa)) continue;  // tiles have names of their own
    EXPECT_EQ(profile()["product"]["isa"], base::isa_name(table.gemm_f32->isa));
  }
  cpu::kernels::use_isa(base::cpu_features().isa);
}

}  // namespace
}  // namespace ortolan::runtime
