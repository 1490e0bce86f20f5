// The operator test program can tell right from wrong.
#include "op_test.h"

namespace ortolan::test {
namespace {

TEST(OpTest, RunsOneNode) {
  Tensor sum = OpTest("Add").input<float>({2}, {1, 2}).input<float>({2, 1}, {10, 20}).run_tensor();
  EXPECT_TRUE(near(sum, {2, 2}, {11, 12, 21, 22}));
  EXPECT_FALSE(near(sum, {2, 2}, {11, 12, 21, 23}));
  EXPECT_FALSE(near(sum, {4}, {11, 12, 21, 22}));
}

TEST(OpTest, TellsTheError) {
  std::string text = OpTest("Add").input<float>({2}, {1, 2}).input<float>({3}, {1, 2, 3}).error();
  EXPECT_NE(text.find("node 'n' (Add)"), std::string::npos) << text;
}

}  // namespace
}  // namespace ortolan::test
