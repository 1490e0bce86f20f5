// Einsum against a sum over all labels, in double.
#include <cmath>
#include <map>

#include "op_test.h"
#include "ops/einsum_equation.h"

namespace ortolan::test {
namespace {

/** One number for each label; counts through all of them. */
struct Counter {
  std::map<int, int64_t> sizes, at;
  bool next() {
    for (auto& [label, i] : at) {
      if (++i < sizes[label]) return true;
      i = 0;
    }
    return false;
  }
  size_t index(const std::vector<int>& labels, const Shape& shape) {
    int64_t index = 0;
    for (size_t d = 0; d < labels.size(); ++d) index = index * shape[d] + (shape[d] == 1 ? 0 : at[labels[d]]);
    return static_cast<size_t>(index);
  }
};

std::vector<double> reference(const std::string& equation, const std::vector<Tensor>& x, Shape& out) {
  std::vector<size_t> ranks;
  for (const Tensor& tensor : x) ranks.push_back(tensor.rank());
  ops::EinsumTerms terms = ops::einsum_terms(equation, ranks);
  Counter counter;
  bool empty = false;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t d = 0; d < x[i].rank(); ++d) {
      int64_t& size = counter.sizes.emplace(terms.inputs[i][d], 1).first->second;
      if (x[i].shape()[d] != 1) size = x[i].shape()[d];
      empty |= x[i].shape()[d] == 0;
      counter.at[terms.inputs[i][d]] = 0;
    }
  }
  out.clear();
  for (int label : terms.output) out.push_back(counter.sizes[label]);
  std::vector<double> y(static_cast<size_t>(out.element_count()), 0);
  if (empty) return y;
  std::vector<std::vector<double>> values;
  for (const Tensor& tensor : x) values.push_back(doubles(tensor));
  do {
    double product = 1;
    for (size_t i = 0; i < x.size(); ++i) product *= values[i][counter.index(terms.inputs[i], x[i].shape())];
    y[counter.index(terms.output, out)] += product;
  } while (counter.next());
  return y;
}

template <class T>
void check(const std::string& equation, const std::vector<Shape>& shapes, double tolerance) {
  SCOPED_TRACE(join("'", equation, "' of ", name_of(kTypeOf<T>)));
  std::vector<Tensor> x;
  OpTest test("Einsum", 12);
  test.set("equation", equation.c_str());
  for (const Shape& shape : shapes) {
    x.push_back(random_tensor<T>(shape, test_seed() + static_cast<uint32_t>(x.size()), -4, 4));
    test.input(x.back());
  }
  Shape out;
  auto expected = reference(equation, x, out);
  EXPECT_TRUE(near(test.run_tensor(), out, expected, tolerance));
}

struct EinsumCase {
  const char* equation;
  std::vector<Shape> shapes;
};

const EinsumCase kCases[] = {
    {"ij,jk->ik", {{3, 4}, {4, 5}}},
    {"ij,kj->ik", {{3, 4}, {5, 4}}},
    {"ji,jk", {{4, 3}, {4, 5}}},
    {"bhqd,bhkd->bhqk", {{2, 3, 5, 4}, {2, 3, 6, 4}}},
    {"bqhd,bkhd->bhqk", {{2, 5, 3, 4}, {2, 6, 3, 4}}},
    {"bhqk,bkhd->bqhd", {{2, 3, 5, 6}, {2, 6, 3, 4}}},
    {"i->", {{7}}},
    {"ii->i", {{4, 4}}},
    {"ii", {{4, 4}}},
    {"ij->ji", {{3, 4}}},
    {"...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}},
    {"... i j -> ... j i", {{2, 3, 4}}},
    {"b...,b...->b...", {{2, 3}, {2, 1}}},
    {"i,j->ij", {{3}, {4}}},
    {"i,j,k->kij", {{2}, {3}, {4}}},
    {"ij,ij->", {{3, 4}, {3, 4}}},
    {"ij,ij->ij", {{3, 4}, {3, 4}}},
    {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}},
    {"iij,jk->ki", {{3, 3, 4}, {4, 2}}},
    {"ab,b->a", {{3, 4}, {4}}},
    {",->", {{}, {}}},
    {"ij,jk->ik", {{3, 0}, {0, 5}}},
    {"ij,jk->ik", {{0, 3}, {3, 5}}},
    {"ia,ja,ka->ijk", {{2, 3}, {4, 3}, {5, 3}}},
    {"ab,ab,c->", {{2, 3}, {2, 3}, {4}}},
};

TEST(Einsum, SumsProducts) {
  for (const EinsumCase& item : kCases) {
    check<float>(item.equation, item.shapes, 1e-5);
    check<double>(item.equation, item.shapes, 1e-13);
    check<int32_t>(item.equation, item.shapes, 0);
  }
}

TEST(Einsum, SaysWhatIsWrong) {
  auto error = [](const char* equation, Shape a, Shape b) {
    Tensor x = random_tensor<float>(a, 1), y = random_tensor<float>(b, 1);
    OpTest test("Einsum", 12);
    return test.set("equation", equation).input(x).input(y).error();
  };
  EXPECT_NE(error("ij,jk->ik", {2, 3}, {4, 5}).find("different sizes"), std::string::npos);
  EXPECT_NE(error("ij->i", {2, 3}, {4}).find("has 1 terms, but the node has 2 inputs"), std::string::npos);
  EXPECT_NE(error("ij,j->ik", {2, 3}, {3}).find("has 'k' in its output only"), std::string::npos);
  EXPECT_NE(error("ij,j->ii", {2, 3}, {3}).find("has 'i' twice"), std::string::npos);
  EXPECT_NE(error("ij,j1->i", {2, 3}, {3}).find("terms are letters"), std::string::npos);
  EXPECT_NE(error("ijk,j->i", {2, 3}, {3}).find("3 letters for input 0, which has rank 2"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
