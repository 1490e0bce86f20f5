// The counts of arithmetic and bytes that src/ops/work.h gives, against counts made by walking over the products.
#include "ops/work.h"

#include <gtest/gtest.h>

#include "runtime/kernels/kernel.h"

namespace ortolan::runtime {
namespace {

/** A node and the tensors that it runs with. They have no elements: counts come from shapes. */
struct Case {
  std::shared_ptr<ModelContext> context = std::make_shared<ModelContext>();
  Graph graph{context};
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<const Tensor*> inputs, outputs;
  Node* node;

  explicit Case(const char* op, const char* domain = "") : node(graph.add_node("n", op, domain, {}, {})) {}

  Case& in(Shape shape, ElementType type = ElementType::kFloat) {
    inputs.push_back(add(type, std::move(shape)));
    return *this;
  }
  Case& skip() {
    inputs.push_back(nullptr);
    return *this;
  }
  Case& out(Shape shape, ElementType type = ElementType::kFloat) {
    outputs.push_back(add(type, std::move(shape)));
    return *this;
  }
  template <class T>
  Case& with(const char* name, T value) {
    node->set_attribute(name, AttributeValue(std::move(value)));
    return *this;
  }
  ops::Work work() const { return ops::work_of(*node, inputs, outputs); }
  int64_t flops() const { return work().flops.value_or(-1); }
  int64_t bytes() const { return work().bytes; }

 private:
  const Tensor* add(ElementType type, Shape shape) {
    tensors.push_back(std::make_unique<Tensor>(type, std::move(shape), nullptr));
    return tensors.back().get();
  }
};

constexpr ElementType kByte = ElementType::kUInt8;

TEST(Work, OfMatrixProducts) {
  EXPECT_EQ(Case("MatMul").in({4, 8}).in({8, 16}).out({4, 16}).flops(), 2 * 4 * 8 * 16);
  EXPECT_EQ(Case("MatMul").in({4, 8}).in({8, 16}).out({4, 16}).bytes(), 4 * (4 * 8 + 8 * 16 + 4 * 16));
  EXPECT_EQ(Case("MatMul").in({2, 3, 4, 8}).in({3, 8, 5}).out({2, 3, 4, 5}).flops(), 2 * 2 * 3 * 4 * 8 * 5);
  EXPECT_EQ(Case("MatMul").in({8}).in({8}).out({}).flops(), 2 * 8);
  EXPECT_EQ(Case("MatMul").in({0, 8}).in({8, 16}).out({0, 16}).flops(), 0);
  EXPECT_EQ(Case("MatMul", "ortolan").in({4, 8}).in({8, 16}).in({16}).out({4, 16}).flops(), 2 * 4 * 8 * 16);
  EXPECT_EQ(Case("MatMulInteger").in({4, 8}, kByte).in({8, 16}, kByte).out({4, 16}, ElementType::kInt32).bytes(),
            4 * 8 + 8 * 16 + 4 * 4 * 16);
  Case gemm("Gemm");
  gemm.in({8, 4}).in({16, 8}).in({16}).out({4, 16}).with("transA", int64_t{1}).with("transB", int64_t{1});
  EXPECT_EQ(gemm.flops(), 2 * 4 * 8 * 16);
  Case fused("FusedMatMul", "com.microsoft");
  fused.in({3, 8, 4}).in({3, 8, 5}).out({3, 4, 5}).with("transA", int64_t{1});
  EXPECT_EQ(fused.flops(), 2 * 3 * 4 * 8 * 5);
  Case narrow("MatMulNBits", "com.microsoft");
  narrow.in({2, 3, 64}).in({10, 2, 16}, kByte).in({20}).out({2, 3, 10}).with("K", int64_t{64}).with("N", int64_t{10});
  EXPECT_EQ(narrow.flops(), 2 * 6 * 64 * 10);
  EXPECT_EQ(narrow.bytes(), 4 * 6 * 64 + 10 * 2 * 16 + 4 * 20 + 4 * 60);
  Case einsum("Einsum");
  einsum.in({2, 3, 4}).in({2, 4, 5}).out({2, 3, 5}).with("equation", std::string("bij,bjk->bik"));
  EXPECT_EQ(einsum.flops(), 2 * 2 * 3 * 4 * 5);
}

TEST(Work, OfConvolutions) {
  EXPECT_EQ(Case("Conv").in({2, 6, 10, 10}).in({8, 3, 3, 3}).in({8}).out({2, 8, 8, 8}).flops(),
            2 * (2 * 8 * 8 * 8) * (3 * 3 * 3));
  EXPECT_EQ(
      Case("PointwiseDepthwiseConv").in({2, 6, 10, 10}).in({8, 1, 3, 3}).in({8, 6, 1, 1}).out({2, 8, 8, 8}).flops(),
      2 * 2 * 8 * (8 * 8 * 9 + 10 * 10 * 6));
  Case quantised("QLinearConv");
  quantised.in({1, 4, 5, 5}, kByte).in({}).in({}, kByte).in({8, 4, 1, 1}, kByte).out({1, 8, 5, 5}, kByte);
  EXPECT_EQ(quantised.flops(), 2 * 8 * 25 * 4);
  EXPECT_EQ(Case("ConvTranspose").in({1, 6, 5, 5}).in({6, 4, 2, 2}).out({1, 8, 10, 10}).flops(),
            2 * (6 * 5 * 5) * (4 * 2 * 2));
}

TEST(Work, OfRecurrentNetworks) {
  EXPECT_EQ(Case("LSTM").in({7, 2, 5}).in({2, 12, 5}).in({2, 12, 3}).out({7, 2, 2, 3}).flops(),
            2 * 7 * 2 * (2 * 12 * 5 + 2 * 12 * 3));
}

TEST(Work, OfAttention) {
  int64_t both_products = 2 * (2 * 3 * 4 * 6 * 5) + 2 * (2 * 3 * 4 * 6 * 7);  // q*k' and p*v of 2 entries, 3 heads
  EXPECT_EQ(Case("Attention").in({2, 3, 4, 5}).in({2, 3, 6, 5}).in({2, 3, 6, 7}).out({2, 3, 4, 7}).flops(),
            both_products);
  EXPECT_EQ(Case("Attention").in({2, 4, 15}).in({2, 6, 15}).in({2, 6, 21}).out({2, 4, 21}).flops(), both_products);
  Case with_past("Attention");
  with_past.in({2, 3, 4, 5}).in({2, 3, 2, 5}).in({2, 3, 2, 7}).skip().in({2, 3, 4, 5}).in({2, 3, 4, 7});
  EXPECT_EQ(with_past.out({2, 3, 4, 7}).flops(), both_products);
  Case projected("Attention", "com.microsoft");
  projected.in({2, 4, 8}).in({8, 24}).in({24}).out({2, 4, 8});
  EXPECT_EQ(projected.flops(), 2 * (2 * 4 * 8 * 24) + 2 * (2 * 4 * 4 * (8 + 8)));
  Case multi("MultiHeadAttention", "com.microsoft");
  EXPECT_EQ(multi.in({2, 4, 15}).in({2, 6, 15}).in({2, 6, 21}).out({2, 4, 21}).flops(), both_products);
  EXPECT_EQ(Case("MultiHeadAttention", "com.microsoft").in({2, 4, 3, 3, 5}).out({2, 4, 15}).flops(),
            2 * (2 * 4 * 4 * 30));
}

TEST(Work, OfGroupQueryAttentionReadsTheLength) {
  Case query("GroupQueryAttention", "com.microsoft");
  query.in({2, 1, 12}).in({2, 1, 4}).in({2, 1, 4}).in({2, 1, 9, 4}).in({2, 1, 9, 4}).in({2}, ElementType::kInt32);
  query.out({2, 1, 12});
  EXPECT_EQ(query.flops(), -1);
  Tensor total = scalar<int32_t>(7);
  query.inputs.push_back(&total);
  EXPECT_EQ(query.flops(), 2 * (2 * 1 * 7 * 24));
}

TEST(Work, OfElementsWindowsAndMoves) {
  EXPECT_EQ(Case("Add").in({3, 1}).in({4}).out({3, 4}).flops(), 12);
  EXPECT_EQ(Case("Sum").in({3}).in({3}).in({3}).out({3}).flops(), 6);
  EXPECT_EQ(Case("ReduceSum").in({3, 5}).out({3}).flops(), 15);
  EXPECT_EQ(Case("Softmax").in({3, 5}).out({3, 5}).flops(), 15);
  Case pool("MaxPool");
  EXPECT_EQ(pool.in({1, 2, 6, 6}).out({1, 2, 3, 3}).with("kernel_shape", std::vector<int64_t>{2, 2}).flops(), 72);
  EXPECT_EQ(Case("Transpose").in({3, 5}).out({5, 3}).flops(), 0);
  Case gather("Gather");
  gather.in({1000, 4}).in({2}, ElementType::kInt64).out({2, 4});
  EXPECT_EQ(gather.bytes(), 2 * (2 * 4 * 4) + 2 * 8);
  EXPECT_EQ(Case("Shape").in({1000, 4}).out({2}, ElementType::kInt64).bytes(), 16);
}

TEST(Work, UnknownAndMissingHaveNoCount) {
  EXPECT_EQ(Case("TopK").in({3, 5}).out({3, 2}).flops(), -1);
  EXPECT_EQ(Case("MatMul", "some.where").in({4, 8}).in({8, 16}).out({4, 16}).flops(), -1);
  EXPECT_EQ(Case("MatMul").skip().in({8, 16}).out({4, 16}).flops(), -1);
  EXPECT_EQ(Case("MatMul").in({4, 8}).in({8, 16}).flops(), -1);
  EXPECT_EQ(Case("Gemm").in({}).in({8, 16}).out({4, 16}).flops(), -1);
  EXPECT_EQ(Case("Gemm").in({4, 8}).in({8, 16}).out({4, 16}).with("transA", std::string("yes")).flops(), -1);
  EXPECT_EQ(Case("MultiHeadAttention", "com.microsoft").in({2, 4, 15}).out({}).flops(), -1);
  EXPECT_EQ(Case("LSTM").out({1}).flops(), -1);
}

}  // namespace
}  // namespace ortolan::runtime
