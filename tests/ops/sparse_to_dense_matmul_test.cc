// SparseToDenseMatMul: COO and CSR, transposed operands, all types; a dense constant in place of the sparse operand.
#include "op_test.h"
#include "tensor/sparse.h"

namespace ortolan::test {
namespace {

/** [[0, 2, 0], [0, 0, 0], [5, 0, -1], [0, 3, 0]] */
const std::vector<double> kDense = {0, 2, 0, 0, 0, 0, 5, 0, -1, 0, 3, 0};

template <class T>
Tensor values() {
  return tensor_of<T>({4}, {T(2), T(5), T(-1), T(3)});
}

template <class T>
std::shared_ptr<SparseTensor> empty_matrix(Shape shape = {4, 3}) {
  return tensor::make_sparse(kTypeOf<T>, std::move(shape), tensor::cpu_allocator());
}

template <class T>
Value coo(bool pairs) {
  auto sparse = empty_matrix<T>();
  Tensor flat = tensor_of<int64_t>({4}, {1, 6, 8, 10}), both = tensor_of<int64_t>({4, 2}, {0, 1, 2, 0, 2, 2, 3, 1});
  tensor::set_coo(*sparse, values<T>(), pairs ? both : flat);
  return sparse;
}

template <class T>
Value csr() {
  auto sparse = empty_matrix<T>();
  tensor::set_csr(*sparse, values<T>(), tensor_of<int64_t>({4}, {1, 0, 2, 1}),
                  tensor_of<int64_t>({5}, {0, 1, 1, 3, 4}));
  return sparse;
}

OpTest node(Value a, const Tensor& b) {
  return OpTest("SparseToDenseMatMul", 1, "com.microsoft").input(std::move(a)).input(b);
}

std::vector<double> product(const Tensor& b, bool trans_a, bool trans_b, double alpha) {
  auto v = doubles(b);
  int64_t rows = trans_a ? 3 : 4, inner = trans_a ? 4 : 3, columns = b.shape()[trans_b ? 0 : 1];
  std::vector<double> result;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k)
        sum += kDense[trans_a ? k * 3 + i : i * 3 + k] * v[trans_b ? j * inner + k : k * columns + j];
      result.push_back(alpha * sum);
    }
  }
  return result;
}

template <class T>
void check() {
  for (bool trans_a : {false, true}) {
    for (bool trans_b : {false, true}) {
      int64_t inner = trans_a ? 4 : 3;
      Tensor b = random_tensor<T>(trans_b ? Shape{37, inner} : Shape{inner, 37}, test_seed(), 0, 9);
      Shape shape{trans_a ? 3 : 4, 37};
      auto expected = product(b, trans_a, trans_b, 1);
      Tensor dense({kTypeOf<T>}, {4, 3});
      std::ranges::transform(kDense, dense.mutable_data<T>(), [](double x) { return T(x); });
      for (const Value& a : {coo<T>(false), coo<T>(true), csr<T>(), Value(dense)}) {
        EXPECT_TRUE(near(node(a, b).set("transA", trans_a).set("transB", trans_b).run_tensor(), shape, expected));
      }
    }
  }
}

TEST(SparseToDenseMatMul, FormatsAndTypes) {
  check<float>();
  check<double>();
  check<int32_t>();
  check<int64_t>();
}

TEST(SparseToDenseMatMul, UnsignedAlphaAndEmpty) {
  Tensor b = tensor_of<uint32_t>({3, 1}, {1, 1, 1});
  Tensor wrapped = node(coo<uint32_t>(true), b).run_tensor();
  EXPECT_TRUE(equal<uint32_t>(wrapped, {4, 1}, {2, 0, 4, 3}));
  Tensor f = random_tensor<float>({3, 2}, 1);
  EXPECT_TRUE(near(node(csr<float>(), f).set("alpha", 0.5f).run_tensor(), {4, 2}, product(f, false, false, 0.5)));
  EXPECT_TRUE(near(node(empty_matrix<float>(), f).run_tensor(), {4, 2}, std::vector<double>(8)));
  EXPECT_EQ(node(csr<float>(), random_tensor<float>({3, 0}, 1)).run_tensor().shape(), (Shape{4, 0}));
}

TEST(SparseToDenseMatMul, Errors) {
  EXPECT_NE(node(csr<float>(), random_tensor<float>({4, 2}, 1)).error().find("do not fit"), std::string::npos);
  EXPECT_NE(node(csr<float>(), random_tensor<double>({3, 2}, 1)).error().find("A is of float"), std::string::npos);
  EXPECT_NE(node(empty_matrix<float>({12}), random_tensor<float>({3, 2}, 1))
                .error()
                .find("input 0 has rank 1 (shape [12]), but it must be 2"),
            std::string::npos);
  auto open = empty_matrix<float>();
  tensor::set_csr(*open, values<float>(), tensor_of<int64_t>({4}, {1, 0, 2, 1}),
                  tensor_of<int64_t>({5}, {0, 1, 1, 3, 3}));
  EXPECT_NE(node(Value(open), random_tensor<float>({3, 2}, 1)).error().find("row starts"), std::string::npos);
  auto blocks = empty_matrix<float>();
  tensor::set_block_sparse(*blocks, tensor_of<float>({1, 2, 2}, {1, 2, 3, 4}), tensor_of<int32_t>({2, 1}, {0, 0}));
  EXPECT_NE(node(Value(blocks), random_tensor<float>({3, 2}, 1)).error().find("give COO or CSR"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
