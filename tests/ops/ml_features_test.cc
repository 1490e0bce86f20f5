// The ai.onnx.ml operators that prepare features.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest ml(const char* op, int opset = 3) { return OpTest(op, opset, "ai.onnx.ml"); }

TEST(ArrayFeatureExtractor, PicksColumns) {
  Tensor table = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(
      near(ml("ArrayFeatureExtractor").input(table).input<int64_t>({2}, {2, 0}).run_tensor(), {2, 2}, {3, 1, 6, 4}));
  Tensor words = ml("ArrayFeatureExtractor").input<std::string>({2}, {"a", "b"}).input<int64_t>({1}, {1}).run_tensor();
  EXPECT_TRUE(equal<std::string>(words, {1, 1}, {"b"}));
  EXPECT_NE(ml("ArrayFeatureExtractor")
                .input(table)
                .input<int64_t>({1}, {3})
                .error()
                .find("index 3 at position 0 is outside [-3, 2]"),
            std::string::npos);
}

TEST(Binarizer, ComparesWithTheThreshold) {
  EXPECT_TRUE(near(ml("Binarizer").set("threshold", 1.f).input<float>({3}, {0, 1, NAN}).run_tensor(), {3}, {0, 0, 0}));
  EXPECT_TRUE(equal<int64_t>(ml("Binarizer").input<int64_t>({2}, {-1, 3}).run_tensor(), {2}, {0, 1}));
}

TEST(FeatureVectorizer, JoinsColumns) {
  Tensor result = ml("FeatureVectorizer")
                      .ints("inputdimensions", {1, 2})
                      .input<int64_t>({2, 1}, {1, 2})
                      .input<int64_t>({2, 2}, {3, 4, 5, 6})
                      .run_tensor();
  EXPECT_TRUE(near(result, {2, 3}, {1, 3, 4, 2, 5, 6}));
  EXPECT_NE(ml("FeatureVectorizer")
                .input<float>({2, 1}, {1, 2})
                .input<float>({1, 1}, {3})
                .error()
                .find("input 1 has shape [1,1], but earlier inputs have 2 rows"),
            std::string::npos);
}

TEST(Imputer, ReplacesOneValue) {
  OpTest test = ml("Imputer");
  test.attribute("imputed_value_floats", std::vector<float>{7, 8}).set("replaced_value_float", NAN);
  EXPECT_TRUE(near(test.input<float>({2, 2}, {NAN, NAN, 1, NAN}).run_tensor(), {2, 2}, {7, 8, 1, 8}));
  EXPECT_TRUE(equal<int64_t>(ml("Imputer")
                                 .ints("imputed_value_int64s", {5})
                                 .set("replaced_value_int64", 0)
                                 .input<int64_t>({2}, {0, 3})
                                 .run_tensor(),
                             {2}, {5, 3}));
  EXPECT_NE(ml("Imputer")
                .attribute("imputed_value_floats", std::vector<float>{7, 8})
                .input<float>({3}, {0, 0, 0})
                .error()
                .find("there are 2 imputed values of the input's kind for 3 features"),
            std::string::npos);
}

TEST(LabelEncoder, MapsEachKind) {
  OpTest old = ml("LabelEncoder", 1);
  old.attribute("classes_strings", std::vector<std::string>{"a", "b"});
  EXPECT_TRUE(equal<int64_t>(OpTest(old).input<std::string>({2}, {"b", "z"}).run_tensor(), {2}, {1, -1}));
  EXPECT_TRUE(equal<std::string>(OpTest(old).input<int64_t>({2}, {0, 9}).run_tensor(), {2}, {"a", "_Unused"}));
  OpTest newer = ml("LabelEncoder", 2);
  newer.attribute("keys_floats", std::vector<float>{NAN, 0})
      .attribute("values_strings", std::vector<std::string>{"n", "z"})
      .set("default_string", "d");
  EXPECT_TRUE(equal<std::string>(newer.input<float>({3}, {-0.f, NAN, 2}).run_tensor(), {3}, {"z", "n", "d"}));
  OpTest tensors = ml("LabelEncoder", 4);
  tensors.attribute("keys_tensor", tensor_of<int16_t>({2}, {1, 2}))
      .attribute("values_tensor", tensor_of<double>({2}, {0.5, 1.5}))
      .attribute("default_tensor", tensor_of<double>({1}, {-1}));
  EXPECT_TRUE(near(tensors.input<int16_t>({2}, {2, 3}).run_tensor(), {2}, {1.5, -1}));
  OpTest uneven = ml("LabelEncoder", 2);
  uneven.ints("keys_int64s", {1, 2}).ints("values_int64s", {1});
  EXPECT_NE(uneven.input<int64_t>({1}, {1}).error().find("there are 2 keys, but 1 values"), std::string::npos);
}

TEST(CategoryMapper, MapsBothWays) {
  OpTest test = ml("CategoryMapper");
  test.attribute("cats_strings", std::vector<std::string>{"a", "b"}).ints("cats_int64s", {10, 20});
  EXPECT_TRUE(equal<int64_t>(OpTest(test).input<std::string>({2}, {"b", "?"}).run_tensor(), {2}, {20, -1}));
  EXPECT_TRUE(equal<std::string>(OpTest(test).input<int64_t>({1}, {10}).run_tensor(), {1}, {"a"}));
}

TEST(Normalizer, EachNorm) {
  auto normal = [](const char* norm) {
    return ml("Normalizer").set("norm", norm).input<float>({2, 2}, {3, -4, 0, 0}).run_tensor();
  };
  EXPECT_TRUE(near(normal("L1"), {2, 2}, {3. / 7, -4. / 7, 0, 0}));
  EXPECT_TRUE(near(normal("L2"), {2, 2}, {0.6, -0.8, 0, 0}));
  EXPECT_TRUE(near(normal("MAX"), {2, 2}, {1, -4. / 3, 0, 0}));
  EXPECT_NE(ml("Normalizer").set("norm", "L3").input<float>({1}, {1}).error().find("norm 'L3' is unknown"),
            std::string::npos);
}

TEST(OneHotEncoder, AddsADimension) {
  OpTest test = ml("OneHotEncoder");
  test.ints("cats_int64s", {3, 5});
  EXPECT_TRUE(near(OpTest(test).input<float>({1, 3}, {5, 3, 4}).run_tensor(), {1, 3, 2}, {0, 1, 1, 0, 0, 0}));
  EXPECT_NE(OpTest(test).set("zeros", 0).input<int64_t>({1}, {4}).error().find("element 0 is none of the categories"),
            std::string::npos);
  EXPECT_TRUE(near(OpTest(test).input<float>({1}, {NAN}).run_tensor(), {1, 2}, {0, 0}));
}

TEST(Scaler, ShiftsThenScales) {
  OpTest test = ml("Scaler");
  test.attribute("offset", std::vector<float>{1, 2}).attribute("scale", std::vector<float>{2});
  EXPECT_TRUE(near(OpTest(test).input<int64_t>({1, 2}, {3, 5}).run_tensor(), {1, 2}, {4, 6}));
  EXPECT_NE(
      OpTest(test).input<float>({1, 3}, {1, 2, 3}).error().find("offset has 2 and scale 1 entries for 3 features"),
      std::string::npos);
}

Value map_of(Tensor keys, Tensor values) { return std::make_shared<Map>(Map{std::move(keys), std::move(values)}); }

TEST(Maps, BecomeTensors) {
  Value numbers = map_of(tensor_of<int64_t>({2}, {1, 3}), tensor_of<float>({2}, {0.5f, 2}));
  EXPECT_TRUE(near(ml("CastMap").input(numbers).run_tensor(), {1, 2}, {0.5, 2}));
  OpTest sparse = ml("CastMap");
  sparse.set("map_form", "SPARSE").set("cast_to", "TO_INT64");
  EXPECT_TRUE(equal<int64_t>(OpTest(sparse).set("max_map", 4).input(numbers).run_tensor(), {1, 4}, {0, 0, 0, 2}));
  EXPECT_NE(OpTest(sparse).set("max_map", 3).input(numbers).error().find("key 3 is outside [0, 2]"), std::string::npos);
  OpTest vocabulary = ml("DictVectorizer");
  vocabulary.attribute("string_vocabulary", std::vector<std::string>{"a", "c", "b"});
  Value words = map_of(tensor_of<std::string>({2}, {"a", "b"}), tensor_of<float>({2}, {4, 8}));
  EXPECT_TRUE(near(vocabulary.input(words).run_tensor(), {1, 3}, {4, 0, 8}));
}

TEST(ZipMap, MakesAMapForEachRow) {
  OpTest test = ml("ZipMap");
  test.attribute("classlabels_strings", std::vector<std::string>{"b", "a"});
  Value result = OpTest(test).input<float>({2, 2}, {1, 2, 3, 4}).run()[0];
  ASSERT_EQ(result.sequence().items().size(), 2u);
  EXPECT_TRUE(same_value(result.sequence().items()[1],
                         map_of(tensor_of<std::string>({2}, {"a", "b"}), tensor_of<float>({2}, {4, 3}))));
  EXPECT_NE(
      OpTest(test).input<float>({1, 3}, {1, 2, 3}).error().find("the input of shape [1,3] has 3 columns for 2 keys"),
      std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
