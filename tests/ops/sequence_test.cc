// Operators on sequences and optionals.
#include "op_test.h"

namespace ortolan::test {
namespace {

Value sequence_of(std::vector<Value> items) {
  return std::make_shared<Sequence>(ElementType::kFloat, std::move(items));
}
Tensor list(const std::vector<float>& values) {
  return tensor_of<float>({static_cast<int64_t>(values.size())}, values);
}

const Value kThree = sequence_of({list({1}), list({2, 3}), list({4, 5, 6})});

TEST(Sequence, AtErasesInsertsAndCounts) {
  auto at = [](int64_t position) { return OpTest("SequenceAt", 11).input(kThree).input<int64_t>({}, {position}); };
  EXPECT_TRUE(near(at(-1).run_tensor(), {3}, {4, 5, 6}));
  EXPECT_NE(at(3).error().find("position 3 is outside a sequence of 3 elements"), std::string::npos) << at(3).error();
  EXPECT_NE(at(-4).error().find("position -4 is outside a sequence of 3 elements"), std::string::npos);
  EXPECT_NE(at(INT64_MIN).error().find("position -9223372036854775808 is outside a sequence of 3"), std::string::npos);
  auto erased = OpTest("SequenceErase", 11).input(kThree).input<int32_t>({}, {0}).run();
  EXPECT_TRUE(same_value(erased[0], sequence_of({list({2, 3}), list({4, 5, 6})})));
  EXPECT_TRUE(same_value(OpTest("SequenceErase", 11).input(kThree).run()[0], sequence_of({list({1}), list({2, 3})})));
  auto inserted =
      OpTest("SequenceInsert", 11).input(sequence_of({list({1})})).input(list({9})).input<int64_t>({}, {-1}).run();
  EXPECT_TRUE(same_value(inserted[0], sequence_of({list({9}), list({1})})));
  EXPECT_TRUE(equal<int64_t>(OpTest("SequenceLength", 11).input(kThree).run_tensor(), {}, {3}));
  EXPECT_NE(OpTest("SequenceInsert", 11)
                .input(kThree)
                .input(list({9}))
                .input<int64_t>({}, {4})
                .error()
                .find("position 4 is outside a sequence of 3 elements"),
            std::string::npos);
  EXPECT_NE(OpTest("SequenceAt", 11)
                .input(sequence_of({}))
                .input<int64_t>({}, {0})
                .error()
                .find("the sequence is empty, so it has no element to take"),
            std::string::npos);
}

TEST(Sequence, IsMadeSplitAndJoined) {
  EXPECT_TRUE(same_value(OpTest("SequenceConstruct", 11).input(list({1})).input(list({2, 3})).run()[0],
                         sequence_of({list({1}), list({2, 3})})));
  EXPECT_EQ(OpTest("SequenceEmpty", 11).run()[0].sequence().items().size(), 0u);
  Tensor rows = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  auto whole = OpTest("SplitToSequence", 11).set("keepdims", 0).input(rows).run()[0];
  EXPECT_TRUE(same_value(whole, sequence_of({list({1, 2}), list({3, 4}), list({5, 6})})));
  auto pieces = OpTest("SplitToSequence", 11).input(rows).input<int64_t>({}, {2}).run()[0];
  EXPECT_EQ(pieces.sequence().items()[1].tensor().shape(), (Shape{1, 2}));
  auto listed = OpTest("SplitToSequence", 11).set("axis", -1).input(rows).input<int64_t>({2}, {0, 2}).run()[0];
  EXPECT_EQ(listed.sequence().items()[0].tensor().shape(), (Shape{3, 0}));
  EXPECT_TRUE(
      near(OpTest("ConcatFromSequence", 11).set("axis", 0).input(kThree).run_tensor(), {6}, {1, 2, 3, 4, 5, 6}));
  auto stacked = OpTest("ConcatFromSequence", 11)
                     .set("axis", -1)
                     .set("new_axis", 1)
                     .input(sequence_of({list({1, 2}), list({3, 4})}));
  EXPECT_TRUE(near(stacked.run_tensor(), {2, 2}, {1, 3, 2, 4}));
  EXPECT_NE(OpTest("ConcatFromSequence", 11)
                .set("axis", 0)
                .set("new_axis", 1)
                .input(kThree)
                .error()
                .find("the sequence holds float[1,1] and float[1,2], which do not join"),
            std::string::npos);
  EXPECT_NE(OpTest("ConcatFromSequence", 11)
                .set("axis", 0)
                .input(sequence_of({}))
                .error()
                .find("the sequence is empty, so there is nothing to join"),
            std::string::npos);
  EXPECT_NE(
      OpTest("SplitToSequence", 11).input(rows).input<int64_t>({}, {0}).error().find("the length to split into is 0"),
      std::string::npos);
  EXPECT_NE(OpTest("SplitToSequence", 11)
                .input(rows)
                .input<int64_t>({2}, {1, 1})
                .error()
                .find("the lengths in split add up to 2, but the dimension to split is"),
            std::string::npos);
}

TEST(Optional, HoldsOrHoldsNothing) {
  EXPECT_TRUE(near(OpTest("Optional", 15).input(list({1, 2})).run_tensor(), {2}, {1, 2}));
  EXPECT_TRUE(near(OpTest("OptionalGetElement", 18).input(list({1, 2})).run_tensor(), {2}, {1, 2}));
  EXPECT_TRUE(equal<bool>(OpTest("OptionalHasElement", 18).input(list({1})).run_tensor(), {}, {true}));
  EXPECT_TRUE(equal<bool>(OpTest("OptionalHasElement", 18).run_tensor(), {}, {false}));
  EXPECT_TRUE(equal<bool>(OpTest("OptionalHasElement", 18).no_input().run_tensor(), {}, {false}));
}

}  // namespace
}  // namespace ortolan::test
