// What shape inference keeps of each value is bounded, whatever the model says.
#include "runtime/resolve.h"

#include <gtest/gtest.h>

#include "../thrown_text.h"
#include "runtime/model_builder.h"

namespace ortolan::runtime {
namespace {

TEST(BoundedInference, LongContentsAreNotFollowed) {
  Builder b;
  ValueInfo* at = b.input("x", SymbolicShape(Shape{1}), ElementType::kInt64);
  for (int i = 0; i < 16; ++i) {
    at = b.node("Concat", {at, at}, "c" + std::to_string(i));
    at->producer->set_attribute("axis", int64_t{0});
  }
  b.graph().mark_output(at);
  resolve_model(*b.model, {});
  EXPECT_TRUE(at->type.shape[0].is(1 << 16));
  EXPECT_EQ(b.graph().find("c2")->content->size(), 8u);
  for (const auto& value : b.graph().values())
    EXPECT_LE(value->content ? value->content->size() : 0, 64u) << value->name;
}

TEST(BoundedInference, RanksHaveALimit) {
  Builder b;
  ValueInfo* y = b.node("Transpose", {b.input("x", SymbolicShape())}, "y");
  std::vector<int64_t> perm(65);
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  y->producer->set_attribute("perm", perm);
  b.graph().mark_output(y);
  EXPECT_TRUE(
      test::throws("output 0 would have rank 65; ranks up to 64 are supported", [&] { resolve_model(*b.model, {}); }));
}

TEST(BoundedInference, DenotationsStayWhereTheyAreStated) {
  Builder b;
  ValueInfo* x = b.input("x", SymbolicShape(Shape{2}));
  x->type.denotation = "IMAGE";
  ValueInfo* y = b.node("Identity", {x}, "y");
  b.graph().mark_output(y);
  resolve_model(*b.model, {});
  EXPECT_EQ(x->type.denotation, "IMAGE");
  EXPECT_EQ(y->type.denotation, "");
}

}  // namespace
}  // namespace ortolan::runtime
