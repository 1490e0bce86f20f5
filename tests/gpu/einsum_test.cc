// Einsum against sums over all places of all labels.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

using Places = std::map<char, int64_t>;

/** The element of a tensor at its labels' places; sizes of 1 stretch. */
size_t element_at(const Shape& shape, const std::string& labels, const Places& places) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); i++) at = at * shape[i] + (shape[i] == 1 ? 0 : places.at(labels[i]));
  return static_cast<size_t>(at);
}

/** The result of terms without ellipses. */
Tensor summed(const std::vector<Tensor>& operands, const std::vector<std::string>& terms, const std::string& result) {
  Places sizes, places;
  for (size_t i = 0; i < operands.size(); i++) {
    for (size_t d = 0; d < terms[i].size(); d++) {
      int64_t& size = sizes[terms[i][d]];
      size = size > 1 ? size : operands[i].shape[d];
    }
  }
  Shape shape;
  for (char label : result) shape.push_back(sizes.at(label));
  std::vector<double> sums(static_cast<size_t>(element_count(shape)));
  int64_t count = 1;
  for (const auto& [label, size] : sizes) count *= size;
  for (int64_t n = 0; n < count; n++) {
    int64_t rest = n;
    for (const auto& [label, size] : sizes) {
      places[label] = rest % size;
      rest /= size;
    }
    double product = 1;
    for (size_t i = 0; i < operands.size(); i++) {
      product *= operands[i].floats()[element_at(operands[i].shape, terms[i], places)];
    }
    sums[element_at(shape, result, places)] += product;
  }
  return floats(shape, {sums.begin(), sums.end()});
}

TestNode einsum(const std::string& equation) { return {"Einsum", {{"equation", equation}}, 12}; }

class Einsum : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  void check(const std::string& equation, const std::vector<Shape>& shapes, const std::vector<std::string>& terms,
             const std::string& result) {
    SCOPED_TRACE(equation);
    std::vector<Tensor> operands;
    std::vector<NodeInput> inputs;
    for (const Shape& shape : shapes) {
      operands.push_back(random_floats(shape, static_cast<unsigned>(operands.size() + 1)));
      inputs.push_back({operands.back()});
    }
    Tensor wanted = summed(operands, terms, result);
    expect_near(run_node(device(), einsum(equation), inputs)[0], wanted, 1e-5f, 1e-5f);
    if (inputs.size() < 2) return;
    inputs[1].constant = true;
    expect_near(run_node(device(), einsum(equation), inputs)[0], wanted, 1e-5f, 1e-5f);
  }
};

TEST_P(Einsum, Products) {
  check("ij,jk->ik", {{3, 4}, {4, 5}}, {"ij", "jk"}, "ik");
  check("ij,jk", {{3, 4}, {4, 5}}, {"ij", "jk"}, "ik");
  check("bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}, {"bhqd", "bhkd"}, "bhqk");
  check("bqhd,bkhd->bhqk", {{2, 4, 3, 5}, {2, 6, 3, 5}}, {"bqhd", "bkhd"}, "bhqk");
  check("bhqk, bkhd -> bqhd", {{2, 3, 4, 6}, {2, 6, 3, 5}}, {"bhqk", "bkhd"}, "bqhd");
  check("nhd,hde->ne", {{7, 2, 3}, {2, 3, 4}}, {"nhd", "hde"}, "ne");
  check("ij,kj->ki", {{3, 4}, {5, 4}}, {"ij", "kj"}, "ki");
  check("i,j->ij", {{3}, {4}}, {"i", "j"}, "ij");
  check("i,i->", {{9}, {9}}, {"i", "i"}, "");
  check("i,i->i", {{9}, {9}}, {"i", "i"}, "i");
  check("ij,j->j", {{3, 4}, {4}}, {"ij", "j"}, "j");
  check("abc,cd->bad", {{17, 2, 33}, {33, 19}}, {"abc", "cd"}, "bad");
}

TEST_P(Einsum, EllipsesDiagonalsAndStretchedOperands) {
  check("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}, {"xyij", "yjk"}, "xyik");
  check("i...,i...", {{3, 2}, {3, 2}}, {"ia", "ia"}, "a");
  check("bij,bjk->bik", {{1, 3, 4}, {2, 4, 5}}, {"bij", "bjk"}, "bik");
  check("iij,jk->ik", {{3, 3, 4}, {4, 5}}, {"iij", "jk"}, "ik");
  check("ij,jk->ik", {{3, 0}, {0, 5}}, {"ij", "jk"}, "ik");
  check("ij,jk->ik", {{0, 3}, {3, 5}}, {"ij", "jk"}, "ik");
}

TEST_P(Einsum, Moves) {
  check("ijk->kij", {{2, 3, 4}}, {"ijk"}, "kij");
  check("ii->i", {{4, 4}}, {"ii"}, "i");
  check("...ij->...ji", {{2, 3, 4}}, {"xij"}, "xji");
}

TEST_P(Einsum, SumsOfOneOperand) {
  check("ij->i", {{3, 70}}, {"ij"}, "i");
  check("ijk->kj", {{3, 4, 5}}, {"ijk"}, "kj");
  check("ii", {{4, 4}}, {"ii"}, "");
  check("ij->j", {{0, 3}}, {"ij"}, "j");
}

TEST_P(Einsum, Float16) {
  constexpr ElementType kHalf = ElementType::kFloat16;
  Tensor a = random_floats({3, 8}, 1), b = random_floats({8, 5}, 2);
  Tensor wanted = summed({a, b}, {"ij", "jk"}, "ki");
  Tensor y = run_node(device(), einsum("ij,jk->ki"),
                      {{floats(a.shape, a.floats(), kHalf)}, {floats(b.shape, b.floats(), kHalf)}})[0];
  expect_near(y, floats(wanted.shape, wanted.floats(), kHalf), 4e-3f, 1e-2f);
}

TEST_P(Einsum, RefusalsAndErrors) {
  Tensor x = random_floats({3, 4}, 1);
  EXPECT_EQ(refusal_of(device(), einsum("i...->i"), {{x}}), "it sums over an ellipsis");
  EXPECT_EQ(refusal_of(device(), einsum("ij,jk,kl->il"), {{x}, {x}, {x}}), "it has 3 operands; one or two are taken");
  EXPECT_TRUE(ortolan::test::throws<Error>("a label has 4 and 3 places", [&] {
    run_node(device(), einsum("ij,jk->ik"), {{x}, {x}});
  }));
}

INSTANTIATE_TEST_SUITE_P(Devices, Einsum, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
