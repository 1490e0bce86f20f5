// MatMulNBits against a product with weights that the test unpacks itself.
#include <gtest/gtest.h>

#include <random>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

enum class Zeros { kMiddle, kCodes, kFloats };

struct Case {
  int64_t rows, n, k, block, bits;
  Zeros zeros = Zeros::kMiddle;
  bool bias = false;
};

/** Inputs of a node, and its result. */
class Product {
 public:
  Product(const Case& c, ElementType type) : c_(c), type_(type), blocks_((c.k + c.block - 1) / c.block), random_(7) {
    make_codes();
    a_ = narrow(random_floats({c.rows, c.k}, 1));
    scales_ = narrow(random_floats({c.n * blocks_}, 2, 0.01f, 0.1f));
    if (c.bias) bias_ = narrow(random_floats({c.n}, 3));
  }

  TestNode node() const {
    return {"MatMulNBits", {{"N", c_.n}, {"K", c_.k}, {"block_size", c_.block}, {"bits", c_.bits}}, 1, "com.microsoft"};
  }
  std::vector<NodeInput> inputs(bool constants) const {
    std::vector<NodeInput> inputs = {{a_}, {b_, constants}, {scales_, constants}, missing(), missing(), missing()};
    if (c_.zeros != Zeros::kMiddle) inputs[3] = {zeros_, constants};
    if (c_.bias) inputs[5] = {bias_, constants};
    return inputs;
  }
  Tensor wanted() const {
    std::vector<float> a = a_.floats(), scales = scales_.floats(),
                       bias = c_.bias ? bias_.floats() : std::vector<float>(c_.n);
    std::vector<float> y;
    for (int64_t row = 0; row < c_.rows; row++) {
      for (int64_t n = 0; n < c_.n; n++) {
        double sum = bias[n];
        for (int64_t k = 0; k < c_.k; k++) {
          int64_t s = n * blocks_ + k / c_.block;
          sum += double{a[row * c_.k + k]} * (codes_[n * blocks_ * c_.block + k] - middles_[s]) * scales[s];
        }
        y.push_back(static_cast<float>(sum));
      }
    }
    return floats({c_.rows, c_.n}, y, type_);
  }

 private:
  Tensor narrow(const Tensor& x) const { return floats(x.shape, x.floats(), type_); }
  int64_t draw(int64_t below) { return static_cast<int64_t>(random_() % static_cast<unsigned>(below)); }
  /** Codes of a row, the first in the low bits, each row from a byte on. */
  Tensor bytes_of(const std::vector<int64_t>& codes, int64_t rows, Shape shape) const {
    int64_t columns = static_cast<int64_t>(codes.size()) / rows, bytes = (columns * c_.bits + 7) / 8;
    std::vector<int64_t> packed(static_cast<size_t>(rows * bytes));
    for (int64_t i = 0; i < rows * columns; i++) {
      int64_t bit = i % columns * c_.bits;
      packed[i / columns * bytes + bit / 8] |= codes[i] << bit % 8;
    }
    return integers(std::move(shape), packed, ElementType::kUint8);
  }
  void make_codes() {
    for (int64_t i = 0; i < c_.n * blocks_ * c_.block; i++) codes_.push_back(draw(1 << c_.bits));
    b_ = bytes_of(codes_, c_.n, {c_.n, blocks_, c_.block * c_.bits / 8});
    std::vector<int64_t> zeros;
    for (int64_t i = 0; i < c_.n * blocks_; i++) zeros.push_back(draw(1 << c_.bits));
    for (int64_t zero : zeros)
      middles_.push_back(c_.zeros == Zeros::kMiddle ? 1 << (c_.bits - 1) : static_cast<float>(zero));
    if (c_.zeros == Zeros::kFloats) zeros_ = floats({c_.n * blocks_}, middles_, type_);
    if (c_.zeros == Zeros::kCodes) zeros_ = bytes_of(zeros, c_.n, {c_.n * ((blocks_ * c_.bits + 7) / 8)});
  }

  Case c_;
  ElementType type_;
  int64_t blocks_;
  std::mt19937 random_;
  std::vector<int64_t> codes_;
  std::vector<float> middles_;
  Tensor a_, b_, scales_, zeros_, bias_;
};

class NarrowProducts : public testing::TestWithParam<NamedDevice> {};

TEST_P(NarrowProducts, BitsBlocksAndSizes) {
  for (const Case& c : std::vector<Case>{{1, 1, 16, 16, 4},
                                         {1, 17, 64, 32, 4, Zeros::kCodes, true},
                                         {3, 16, 80, 32, 4, Zeros::kCodes},
                                         {9, 15, 33, 16, 4, Zeros::kFloats, true},
                                         {1, 33, 256, 128, 8},
                                         {5, 7, 300, 256, 8, Zeros::kCodes, true}}) {
    SCOPED_TRACE(testing::Message() << c.rows << "x" << c.k << "x" << c.n << ", " << c.bits << " bits");
    Product product(c, ElementType::kFloat);
    for (bool constants : {false, true}) {
      expect_near(run_node(*GetParam().device, product.node(), product.inputs(constants))[0], product.wanted(), 1e-5f,
                  1e-4f);
    }
  }
}

TEST_P(NarrowProducts, Float16) {
  for (Zeros zeros : {Zeros::kMiddle, Zeros::kCodes, Zeros::kFloats}) {
    Product product({2, 5, 48, 16, 4, zeros, true}, ElementType::kFloat16);
    expect_near(run_node(*GetParam().device, product.node(), product.inputs(true))[0], product.wanted(), 2e-3f, 2e-3f);
  }
}

TEST_P(NarrowProducts, RefusalsAndErrors) {
  Product product({1, 4, 32, 32, 4}, ElementType::kFloat);
  TestNode node = product.node();
  node.attributes["bits"] = int64_t{2};
  EXPECT_EQ(refusal_of(*GetParam().device, node, product.inputs(true)), "its weights have 2 bits; 4 and 8 are taken");
  std::vector<NodeInput> inputs = product.inputs(true);
  inputs[0] = {random_floats({1, 31}, 1)};
  try {
    run_node(*GetParam().device, product.node(), inputs);
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (MatMulNBits): the last dimension of A is not K, 32");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NarrowProducts, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
