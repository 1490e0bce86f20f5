// Elementwise operators in integers, Cast, Where and Dropout.
#include <gtest/gtest.h>
#include <algorithm>

#include <cmath>
#include <cstring>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {
namespace {

const ElementType kSigned[] = {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64};
const ElementType kUnsigned[] = {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32};

std::vector<ElementType> whole_types() {
  std::vector<ElementType> types(std::begin(kSigned), std::end(kSigned));
  types.insert(types.end(), std::begin(kUnsigned), std::end(kUnsigned));
  return types;
}

Tensor of_uint64(Shape shape, const std::vector<uint64_t>& values) {
  Tensor tensor{ElementType::kUint64, std::move(shape), std::vector<std::byte>(values.size() * 8)};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<uint64_t> uint64_of(const Tensor& tensor) {
  std::vector<uint64_t> values(tensor.bytes.size() / 8);
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

int64_t floor_modulo(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct IntegerCase {
  TestNode node;
  int64_t (*function)(int64_t, int64_t);
};

const IntegerCase kBinary[] = {
    {{"Add"}, [](int64_t a, int64_t b) { return a + b; }},
    {{"Sub"}, [](int64_t a, int64_t b) { return a - b; }},
    {{"Mul"}, [](int64_t a, int64_t b) { return a * b; }},
    {{"Div"}, [](int64_t a, int64_t b) { return a / b; }},
    {{"Mod"}, floor_modulo},
    {{"Mod", {{"fmod", int64_t{1}}}}, [](int64_t a, int64_t b) { return a % b; }},
    {{"Max"}, [](int64_t a, int64_t b) { return std::max(a, b); }},
    {{"Min"}, [](int64_t a, int64_t b) { return std::min(a, b); }},
    {{"PRelu"}, [](int64_t a, int64_t b) { return a < 0 ? a * b : a; }},
    {{"BitwiseAnd"}, [](int64_t a, int64_t b) { return a & b; }},
    {{"BitwiseOr"}, [](int64_t a, int64_t b) { return a | b; }},
    {{"BitwiseXor"}, [](int64_t a, int64_t b) { return a ^ b; }},
};

const IntegerCase kComparisons[] = {
    {{"Equal"}, [](int64_t a, int64_t b) { return int64_t{a == b}; }},
    {{"Less"}, [](int64_t a, int64_t b) { return int64_t{a < b}; }},
    {{"LessOrEqual"}, [](int64_t a, int64_t b) { return int64_t{a <= b}; }},
    {{"Greater"}, [](int64_t a, int64_t b) { return int64_t{a > b}; }},
    {{"GreaterOrEqual"}, [](int64_t a, int64_t b) { return int64_t{a >= b}; }},
};

const IntegerCase kUnary[] = {
    {{"Abs"}, [](int64_t a, int64_t) { return a < 0 ? -a : a; }},
    {{"Neg"}, [](int64_t a, int64_t) { return -a; }},
    {{"Sign"}, [](int64_t a, int64_t) { return int64_t{a > 0} - int64_t{a < 0}; }},
    {{"Relu"}, [](int64_t a, int64_t) { return a < 0 ? 0 : a; }},
    {{"BitwiseNot"}, [](int64_t a, int64_t) { return ~a; }},
};

class ElementwiseInteger : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  /** Few for drivers: they compile a program for each type and operator. */
  std::vector<ElementType> types() {
    if (GetParam().name == "opencl") return {ElementType::kInt8, ElementType::kInt64};
    return whole_types();
  }
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) { return run_node(device(), node, inputs)[0]; }
  void expect_case(const IntegerCase& c, const std::vector<Tensor>& inputs, ElementType result) {
    std::vector<NodeInput> given(inputs.begin(), inputs.end());
    Tensor y = run(c.node, given);
    std::vector<int64_t> a = inputs[0].integers(), b = inputs.back().integers(), wanted;
    for (size_t i = 0; i < a.size(); i++) wanted.push_back(c.function(a[i], b[i % b.size()]));
    EXPECT_EQ(y.type, result);
    EXPECT_EQ(y.integers(), integers(inputs[0].shape, wanted, result).integers());
  }
};

TEST_P(ElementwiseInteger, OperatorsOfAllTypes) {
  for (ElementType type : types()) {
    bool negative = std::count(std::begin(kUnsigned), std::end(kUnsigned), type) == 0;
    std::vector<int64_t> left, right = {3, 1, 2, 7, 100, 5};
    for (int64_t i = 0; i < 18; i++) left.push_back(negative ? i * 13 - 120 : i * 13);
    if (negative) right = {3, -1, -2, 7, 100, -5};
    Tensor a = integers({3, 6}, left, type), b = integers({6}, right, type);
    for (const IntegerCase& c : kBinary) {
      SCOPED_TRACE(c.node.op + " of " + type_name(type));
      expect_case(c, {a, b}, type);
    }
    for (const IntegerCase& c : kComparisons) expect_case(c, {a, b}, ElementType::kBool);
    for (const IntegerCase& c : kUnary) {
      SCOPED_TRACE(c.node.op + " of " + type_name(type));
      expect_case(c, {a}, type);
    }
  }
}

TEST_P(ElementwiseInteger, OverflowWrapsAround) {
  Tensor a = integers({4}, {INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX}), b = integers({4}, {1, -1, -1, 2});
  EXPECT_EQ(run({"Add"}, {{a}, {b}}).integers(),
            (std::vector<int64_t>{INT64_MIN, INT64_MAX, INT64_MAX, INT64_MIN + 1}));
  EXPECT_EQ(run({"Mul"}, {{a}, {b}}).integers(), (std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MIN, -2}));
  EXPECT_EQ(run({"Div"}, {{a}, {b}}).integers()[1], INT64_MIN);
  EXPECT_EQ(run({"Mod"}, {{a}, {b}}).integers()[1], 0);
  EXPECT_EQ(run({"Neg"}, {{a}}).integers()[1], INT64_MIN);
  Tensor c = integers({2}, {INT32_MIN, INT32_MAX}, ElementType::kInt32);
  EXPECT_EQ(run({"Abs"}, {{c}}).integers(), (std::vector<int64_t>{INT32_MIN, INT32_MAX}));
  Tensor minus = integers({1}, {-1}, ElementType::kInt32);
  EXPECT_EQ(run({"Div"}, {{c}, {minus}}).integers(), (std::vector<int64_t>{INT32_MIN, -INT32_MAX}));
}

TEST_P(ElementwiseInteger, ZeroAsDivisor) {
  for (const char* op : {"Div", "Mod"}) {
    Tensor a = integers({2, 3}, {1, 2, 3, 4, 5, 6}, ElementType::kInt32);
    Tensor zero = integers({3}, {1, 0, 2}, ElementType::kInt32);
    for (bool known : {false, true}) {
      try {
        run({op}, {{a}, {zero, known}});
        FAIL() << "it ran";
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  std::string("node 'n' (") + op + "): an integer is divided by zero (input 1)");
      }
    }
  }
}

TEST_P(ElementwiseInteger, AllOfUint64) {
  uint64_t most = UINT64_MAX;
  Tensor a = of_uint64({3}, {most, 10, most - 1}), b = of_uint64({3}, {3, 3, most});
  EXPECT_EQ(uint64_of(run({"Div"}, {{a}, {b}})), (std::vector<uint64_t>{most / 3, 3, 0}));
  EXPECT_EQ(uint64_of(run({"Mod"}, {{a}, {b}})), (std::vector<uint64_t>{most % 3, 1, most - 1}));
  EXPECT_EQ(uint64_of(run({"Max"}, {{a}, {b}})), (std::vector<uint64_t>{most, 10, most}));
  EXPECT_EQ(uint64_of(run({"Min"}, {{a}, {b}})), (std::vector<uint64_t>{3, 3, most - 1}));
  EXPECT_EQ(run({"Less"}, {{a}, {b}}).integers(), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(run({"GreaterOrEqual"}, {{a}, {b}}).integers(), (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(run({"Cast", {{"to", int64_t{1}}}}, {{a}}).floats(), (std::vector<float>{0x1p64f, 10, 0x1p64f}));
  Tensor large = floats({3}, {1.5f, 0x1p63f, 0x1.8p63f});
  EXPECT_EQ(uint64_of(run({"Cast", {{"to", int64_t{13}}}}, {{large}})),
            (std::vector<uint64_t>{1, uint64_t{1} << 63, uint64_t{3} << 62}));
}

TEST_P(ElementwiseInteger, Shifts) {
  for (ElementType type : kUnsigned) {
    if (GetParam().name == "opencl" && type != ElementType::kUint16) continue;
    int64_t bits = 8 * static_cast<int64_t>(element_bytes(type)), most = (int64_t{1} << bits) - 1;
    Tensor a = integers({4}, {1, most, most, most}, type), b = integers({4}, {3, 1, bits, bits - 1}, type);
    EXPECT_EQ(run({"BitShift", {{"direction", std::string("LEFT")}}}, {{a}, {b}}).integers(),
              (std::vector<int64_t>{8, most - 1, 0, int64_t{1} << (bits - 1)}));
    EXPECT_EQ(run({"BitShift", {{"direction", std::string("RIGHT")}}}, {{a}, {b}}).integers(),
              (std::vector<int64_t>{0, most >> 1, 0, 1}));
  }
  Tensor a = of_uint64({3}, {1, UINT64_MAX, UINT64_MAX}), b = of_uint64({3}, {63, 64, 60});
  EXPECT_EQ(uint64_of(run({"BitShift", {{"direction", std::string("LEFT")}}}, {{a}, {b}})),
            (std::vector<uint64_t>{uint64_t{1} << 63, 0, uint64_t{15} << 60}));
  EXPECT_EQ(uint64_of(run({"BitShift", {{"direction", std::string("RIGHT")}}}, {{a}, {b}})),
            (std::vector<uint64_t>{0, 0, 15}));
}

TEST_P(ElementwiseInteger, Powers) {
  Tensor a = integers({6}, {2, -3, 7, -1, 1, 5}), b = integers({6}, {10, 3, 0, -3, -2, -1}, ElementType::kInt32);
  EXPECT_EQ(run({"Pow"}, {{a}, {b}}).integers(), (std::vector<int64_t>{1024, -27, 1, -1, 1, 0}));
  EXPECT_EQ(run({"Pow"}, {{a}, constant(integers({}, {2}))}).integers(), (std::vector<int64_t>{4, 9, 49, 1, 1, 25}));
  EXPECT_EQ(refusal_of(device(), {"Pow"}, {{a}, {floats({1, 1}, {2})}}),
            "integers are raised to floats, which the CPU does in double");
}

TEST_P(ElementwiseInteger, ClipOfIntegers) {
  Tensor x = integers({2, 2}, {-5, 0, 5, INT64_MAX}), low = integers({}, {-2}), high = integers({}, {INT64_MAX - 1});
  EXPECT_EQ(run({"Clip"}, {{x}, constant(low), {high}}).integers(), (std::vector<int64_t>{-2, 0, 5, INT64_MAX - 1}));
  EXPECT_EQ(run({"Clip"}, {{x}, missing(), constant(low)}).integers(), (std::vector<int64_t>{-5, -2, -2, -2}));
  EXPECT_EQ(run({"Clip"}, {{x}}).integers(), x.integers());
}

TEST_P(ElementwiseInteger, CastsBetweenIntegers) {
  const std::vector<int64_t> values = {0, 1, -1, 127, 128, 255, 256, -129, 65535, 70000, INT32_MAX, INT32_MIN};
  for (ElementType from : types()) {
    for (ElementType to : types()) {
      SCOPED_TRACE(std::string(type_name(from)) + " to " + type_name(to));
      Tensor x = integers({3, 4}, values, from);
      Tensor y = run({"Cast", {{"to", static_cast<int64_t>(to)}}}, {{x}});
      EXPECT_EQ(y.type, to);
      EXPECT_EQ(y.integers(), integers({3, 4}, x.integers(), to).integers());
    }
  }
}

TEST_P(ElementwiseInteger, CastsFromAndToFloats) {
  const std::vector<float> values = {0, -0.0f, 1.9f, -1.9f, 127, 100.5f, -3e-8f, 64};
  for (ElementType type : types()) {
    SCOPED_TRACE(type_name(type));
    std::vector<int64_t> wanted;
    for (float value : values) wanted.push_back(static_cast<int64_t>(value));
    for (ElementType from : {ElementType::kFloat, ElementType::kFloat16}) {
      Tensor y = run({"Cast", {{"to", static_cast<int64_t>(type)}}}, {{floats({8}, values, from)}});
      EXPECT_EQ(y.integers(), integers({8}, wanted, type).integers());
    }
    Tensor whole = integers({3}, {100, 0, 77}, type);
    EXPECT_EQ(run({"Cast", {{"to", int64_t{1}}}}, {{whole}}).floats(), (std::vector<float>{100, 0, 77}));
    EXPECT_EQ(run({"CastLike"}, {{whole}, {floats({1}, {0}, ElementType::kFloat16)}}).floats(),
              (std::vector<float>{100, 0, 77}));
    EXPECT_EQ(run({"Cast", {{"to", int64_t{9}}}}, {{whole}}).integers(), (std::vector<int64_t>{1, 0, 1}));
  }
  Tensor odd = floats({4}, {NAN, INFINITY, -1e20f, 3e9f});
  EXPECT_EQ(run({"Cast", {{"to", int64_t{6}}}}, {{odd}}).integers(), (std::vector<int64_t>(4, INT32_MIN)));
  EXPECT_EQ(run({"Cast", {{"to", int64_t{7}}}}, {{odd}}).integers(),
            (std::vector<int64_t>{INT64_MIN, INT64_MIN, INT64_MIN, 3000000000}));
  EXPECT_EQ(run({"Cast", {{"to", int64_t{9}}}}, {{odd}}).integers(), (std::vector<int64_t>{1, 1, 1, 1}));
  Tensor truths = integers({2}, {1, 0}, ElementType::kBool);
  EXPECT_EQ(run({"Cast", {{"to", int64_t{1}}}}, {{truths}}).floats(), (std::vector<float>{1, 0}));
  EXPECT_EQ(run({"Cast", {{"to", int64_t{7}}}}, {{truths}}).integers(), (std::vector<int64_t>{1, 0}));
}

TEST_P(ElementwiseInteger, CastsBetweenFloats) {
  Tensor x = floats({7}, {1, 1.0009765625f, 1.00048828125f, 70000, -1e-8f, NAN, 65504});
  Tensor half = run({"Cast", {{"to", int64_t{10}}}}, {{x}});
  EXPECT_EQ(half.type, ElementType::kFloat16);
  expect_near(half, floats({7}, {1, 1.0009765625f, 1, INFINITY, 0, NAN, 65504}, ElementType::kFloat16), 0, 0);
  expect_near(run({"Cast", {{"to", int64_t{1}}}}, {{half}}),
              floats({7}, {1, 1.0009765625f, 1, INFINITY, 0, NAN, 65504}), 0, 0);
  Tensor brain = run({"Cast", {{"to", int64_t{16}}}}, {{floats({4}, {1, 1.00390625f, 1.01171875f, NAN})}});
  ASSERT_EQ(brain.type, ElementType::kBfloat16);
  uint16_t bits[4];
  std::memcpy(bits, brain.bytes.data(), sizeof bits);
  EXPECT_EQ(std::vector<int>(bits, bits + 4), (std::vector<int>{0x3f80, 0x3f80, 0x3f82, 0x7fc0}));
  expect_near(run({"Cast", {{"to", int64_t{1}}}}, {{brain}}), floats({4}, {1, 1, 1.015625f, NAN}), 0, 0);
}

TEST_P(ElementwiseInteger, WhereOfManyTypes) {
  Tensor condition = integers({3, 1}, {1, 0, 1}, ElementType::kBool);
  for (ElementType type : types()) {
    Tensor a = integers({4}, {1, 2, 3, 4}, type),
           b = integers({3, 4}, {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, type);
    Tensor y = run({"Where"}, {{condition}, {a}, {b}});
    EXPECT_EQ(y.type, type);
    EXPECT_EQ(y.integers(), (std::vector<int64_t>{1, 2, 3, 4, 9, 10, 11, 12, 1, 2, 3, 4}));
  }
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
    Tensor a = floats({},
                      {
                          -1,
                      },
                      type),
           b = floats({1, 2}, {NAN, INFINITY}, type);
    expect_near(run({"Where"}, {{condition}, {a}, {b}}), floats({3, 2}, {-1, -1, NAN, INFINITY, -1, -1}, type));
  }
  Tensor wide = of_uint64({1}, {UINT64_MAX}), zero = of_uint64({1}, {0});
  wide.type = zero.type = ElementType::kDouble;
  EXPECT_EQ(uint64_of(run({"Where"}, {{condition}, {wide}, {zero}})),
            (std::vector<uint64_t>{UINT64_MAX, 0, UINT64_MAX}));
}

TEST_P(ElementwiseInteger, DropoutInInference) {
  Tensor x = floats({3}, {1, NAN, -2});
  std::vector<Tensor> results = run_node(device(), {"Dropout"}, {{x}}, 2);
  expect_near(results[0], x);
  EXPECT_EQ(results[1].type, ElementType::kBool);
  EXPECT_EQ(results[1].integers(), (std::vector<int64_t>{1, 1, 1}));
  expect_near(run_node(device(), {"Dropout", {}, 7}, {{x}}, 2)[1], floats({3}, {1, 1, 1}));
  Tensor ratio = floats({}, {0.5f});
  NodeInput no = constant(integers({}, {0}, ElementType::kBool)), yes = constant(integers({}, {1}, ElementType::kBool));
  EXPECT_EQ(refusal_of(device(), {"Dropout"}, {{x}, constant(ratio), no}), "");
  EXPECT_EQ(refusal_of(device(), {"Dropout"}, {{x}, constant(ratio), yes}), "training_mode is not known to be false");
}

TEST_P(ElementwiseInteger, NothingAndScalars) {
  EXPECT_EQ(run({"Add"}, {{integers({0, 3}, {})}, {integers({3}, {1, 2, 3})}}).shape, (Shape{0, 3}));
  EXPECT_EQ(run({"Div"}, {{integers({0}, {})}, {integers({1}, {0})}}).shape, (Shape{0}));
  EXPECT_EQ(run({"Mul", {}, 7}, {{integers({}, {6})}, {integers({}, {7})}}).integers(), (std::vector<int64_t>{42}));
}

TEST_P(ElementwiseInteger, WhatIsRefused) {
  Tensor whole = integers({1, 2}, {1, 2});
  EXPECT_EQ(refusal_of(device(), {"BitwiseAnd"}, {{floats({1, 2}, {1, 2})}, {whole}}),
            "input 0 is float; integers are supported");
  EXPECT_EQ(refusal_of(device(), {"Cast", {{"to", int64_t{11}}}}, {{whole}}),
            "elements of double are not cast on the device");
  EXPECT_EQ(refusal_of(device(), {"And"}, {{whole}, {whole}}), "input 0 is int64; supported: bool");
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseInteger, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
