// Views of some nodes of a graph, and fused nodes on their own, as plugins see them.
#include "graph_objects_fixture.h"

namespace {

using namespace ortolan;
using api::DetachedNode;

TEST_F(GraphObjectsTest, ShowsAViewOfSomeNodes) {
  const OrtNode* chosen[] = {node("Softmax_node"), node("Mul_node"), node("Clip_node")};
  OrtGraph* view = nullptr;
  ASSERT_OK(table().Graph_GetGraphView(graph_, chosen, 3, &view));
  EXPECT_EQ(names(nodes(view)), "Mul_node Clip_node Softmax_node");
  EXPECT_EQ(names(inputs(view)), "a");
  EXPECT_EQ(names(outputs(view)), "b s");
  EXPECT_EQ(names(initializers(view)), "c hi");
  EXPECT_EQ(answers(inputs(view)[0]), "a required to Mul_node:0");
  EXPECT_EQ(answers(outputs(view)[0]), "b output by Mul_node:0 to Clip_node:0");
  const OrtGraph* graph = nullptr;
  EXPECT_OK(table().Node_GetGraph(nodes(view)[0], &graph));
  EXPECT_EQ(graph, view);
  table().ReleaseGraph(view);
  const OrtNode* foreign[] = {node(subgraph(node("If_node"), 0), "Sub_node")};
  EXPECT_REFUSED(table().Graph_GetGraphView(graph_, foreign, 1, &view), ORT_INVALID_ARGUMENT,
                 "node 'Sub_node' (Sub) is not of the graph");
  EXPECT_REFUSED(table().Graph_GetGraphView(graph_, chosen, 0, &view), ORT_INVALID_ARGUMENT, "at least one node");
}

TEST_F(GraphObjectsTest, AViewWithSubgraphsKeepsTheirUsesInside) {
  const OrtNode* chosen[] = {node("If_node"), node("Mul_node")};
  OrtGraph* view = nullptr;
  ASSERT_OK(table().Graph_GetGraphView(graph_, chosen, 2, &view));
  EXPECT_EQ(names(nodes(view)), "Mul_node If_node");
  EXPECT_EQ(names(inputs(view)), "a cond");
  EXPECT_EQ(names(outputs(view)), "b y0") << "b goes to Clip too";
  table().ReleaseGraph(view);
}

TEST_F(GraphObjectsTest, ShowsAFusedNodeOnItsOwn) {
  const graph::ValueInfo* ins[] = {model_->graph->find("a")};
  const graph::ValueInfo* outs[] = {model_->graph->find("s")};
  DetachedNode fused(api::FusedNode{*model_->graph, "fused_0", "Fused", "TestProvider", "TestProvider", ins, outs});
  const auto* handle = api::wrap<const OrtNode>(&fused.node());
  EXPECT_EQ(name_of(handle), "fused_0");
  EXPECT_EQ(names(inputs(handle)), "a");
  EXPECT_EQ(names(outputs(handle)), "s");
  EXPECT_EQ(names(implicit_inputs(handle)), "");
  EXPECT_EQ(answers(outputs(handle)[0]), "s");
  const OrtGraph* graph = graph_;
  const char* provider = nullptr;
  size_t count = 9;
  int since = 0;
  EXPECT_OK(table().Node_GetGraph(handle, &graph));
  EXPECT_EQ(graph, nullptr);
  EXPECT_OK(table().Node_GetEpName(handle, &provider));
  EXPECT_STREQ(provider, "TestProvider");
  EXPECT_OK(table().Node_GetNumSubgraphs(handle, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(table().Node_GetSinceVersion(handle, &since));
  EXPECT_EQ(since, 1);
}

}  // namespace
