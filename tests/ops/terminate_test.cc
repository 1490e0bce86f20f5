// How often operators look whether their run is to stop, where no thread pool parts their loops; and those that have
// nothing to do however large their shapes are.
#include <gtest/gtest.h>

#include "base/threads/run_scope.h"
#include "op_test.h"
#include "run_watch.h"

namespace ortolan::test {
namespace {

constexpr int64_t kSide = 1 << 11, kElements = kSide * kSide;
constexpr int64_t kEndless = int64_t{1} << 40;
constexpr const char* kMl = "ai.onnx.ml";
constexpr const char* kMicrosoft = "com.microsoft";

/** Elements value(0), value(1), … */
template <class T, class Value>
Tensor made(Shape shape, Value&& value) {
  Tensor tensor(kTypeOf<T>, std::move(shape));
  T* to = tensor.mutable_data<T>();
  for (int64_t i = 0; i < tensor.element_count(); ++i) to[i] = static_cast<T>(value(i));
  return tensor;
}

template <class T>
Tensor filled(Shape shape, T value) {
  return made<T>(std::move(shape), [&](int64_t) { return value; });
}

/** All numbers below the count once, in no order. */
template <class T = float>
Tensor mixed(Shape shape) {
  return made<T>(std::move(shape), [](int64_t i) { return i * 40503 % kElements; });
}

Tensor steps(Shape shape) {
  return made<int64_t>(std::move(shape), [](int64_t i) { return i; });
}

Tensor words(Shape shape) { return filled<std::string>(std::move(shape), "a b"); }

SessionOptions alone() {
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  options.intra_op_threads = 1;
  return options;
}

uint64_t looks_of(const OpTest& test, size_t outputs) {
  const uint64_t before = base::terminate_looks();
  run_node(test.node(), Way::kUnknownShapes, outputs, alone());
  return base::terminate_looks() - before;
}

/** An operator on kElements elements, or on so many a row. */
struct LongCase {
  const char* name;
  std::function<OpTest()> test;
  size_t outputs = 1;
};

void PrintTo(const LongCase& c, std::ostream* out) { *out << c.name; }

class TerminateLooks : public testing::TestWithParam<LongCase> {};

TEST_P(TerminateLooks, ComeOnceAMillionElementsAtLeast) {
  const LongCase& c = GetParam();
  EXPECT_GE(looks_of(c.test(), c.outputs), static_cast<uint64_t>(kElements >> 20));
}

OpTest scatter_nd(const char* reduction, int64_t block) {
  const int64_t rows = kElements / block;
  OpTest test("ScatterND", 18);
  test.input(filled<float>({rows, block}, 1)).input(steps({rows, 1})).input(filled<float>({rows, block}, 2));
  return std::move(test.set("reduction", reduction));
}

OpTest boxes(int64_t most, float overlap) {
  auto corner = [](int64_t i) { return static_cast<float>(i / 4 * 2 + (i % 4 > 1 ? 1 : 0)); };
  OpTest test("NonMaxSuppression", 11);
  test.input(made<float>({1, kElements / 4, 4}, corner)).input(mixed({1, 1, kElements / 4}));
  test.input<int64_t>({1}, {most}).input<float>({1}, {overlap});
  return test;
}

const LongCase kMoves[] = {
    {"Compress", [] { return OpTest("Compress").input(mixed({kElements})).input(filled<bool>({kElements}, true)); }},
    {"CompressOfRows",
     [] {
       return OpTest("Compress").input(mixed({kSide, kSide})).input(filled<bool>({kSide}, true)).set("axis", 1);
     }},
    {"NonZero", [] { return OpTest("NonZero").input(mixed({kElements})); }},
    {"NonZeroOfTexts",
     [] {
       return OpTest("NonZero").input(words({kSide, kSide}));
     }},
    {"OneHot",
     [] {
       return OpTest("OneHot").input(mixed<int64_t>({kElements})).input<int64_t>({}, {2}).input<float>({2}, {0, 1});
     }},
    {"UniqueNumbers", [] { return OpTest("Unique").input(mixed({kElements})); }, 4},
    {"UniqueRows",
     [] {
       return OpTest("Unique").input(mixed({kElements / 2, 2})).set("axis", 0);
     },
     4},
    {"ScatterElements",
     [] {
       return OpTest("ScatterElements").input(mixed({kElements})).input(steps({kElements})).input(mixed({kElements}));
     }},
    {"ScatterND", [] { return scatter_nd("none", 1); }},
    {"ScatterNDOfBlocks", [] { return scatter_nd("none", 64); }},
    {"ScatterNDThatAdds", [] { return scatter_nd("add", 64); }},
    {"Gather", [] { return OpTest("Gather").input(mixed({16})).input(filled<int64_t>({kElements}, 3)); }},
    {"GatherElements", [] { return OpTest("GatherElements").input(mixed({kElements})).input(steps({kElements})); }},
    {"GatherND",
     [] {
       return OpTest("GatherND").input(mixed({kElements})).input(steps({kElements, 1}));
     }},
    {"EyeLike",
     [] {
       return OpTest("EyeLike").input(mixed({kSide, kSide}));
     }},
    {"MaxUnpool",
     [] {
       OpTest test("MaxUnpool");
       test.input(mixed({1, 1, kSide, kSide})).input(steps({1, 1, kSide, kSide})).ints("kernel_shape", {1, 1});
       return test;
     }},
    {"Pad",
     [] {
       return OpTest("Pad").input(mixed({1})).input<int64_t>({2}, {kElements, 0}).set("mode", "edge");
     }},
    {"TransposeOfTexts",
     [] {
       return OpTest("Transpose").input(words({kSide, kSide}));
     }},
    {"IdentityOfTexts",
     [] {
       return OpTest("Identity").input(words({kSide, kSide}));
     }},
    {"LabelEncoder",
     [] {
       return OpTest("LabelEncoder", 2, kMl)
           .input(words({kElements}))
           .attribute("keys_strings", std::vector<std::string>{"a b"})
           .ints("values_int64s", {1});
     }},
};

const LongCase kComputed[] = {
    {"TopK", [] { return OpTest("TopK").input(mixed({kElements})).input<int64_t>({1}, {5}); }, 2},
    {"TopKOfAll", [] { return OpTest("TopK").input(mixed({kElements})).input<int64_t>({1}, {kElements}); }, 2},
    {"NonMaxSuppression", [] { return boxes(16, 0.5f); }},
    {"CumSum", [] { return OpTest("CumSum").input(mixed({kElements})).input<int64_t>({}, {0}); }},
    {"CumSumOfColumns",
     [] {
       return OpTest("CumSum").input(mixed({kSide, kSide})).input<int64_t>({}, {0}).set("exclusive", 1);
     }},
    {"ArgMaxOfColumns",
     [] {
       return OpTest("ArgMax").input(mixed({kSide, kSide})).set("axis", 0);
     }},
    {"ReduceSum",
     [] {
       return OpTest("ReduceSum").input(mixed<int64_t>({kSide, kSide})).input<int64_t>({1}, {0});
     }},
    {"LpNormalization", [] { return OpTest("LpNormalization", 22).input(mixed<double>({kElements})); }},
    {"Multinomial",
     [] {
       return OpTest("Multinomial").input(filled<float>({1, 4}, 1)).set("sample_size", kElements).once();
     }},
    {"HannWindow", [] { return OpTest("HannWindow").input<int64_t>({}, {kElements}); }},
    {"DFT",
     [] {
       return OpTest("DFT", 20).input(mixed({1, kElements, 1}));
     }},
    {"Einsum",
     [] {
       OpTest test("Einsum");
       test.input(mixed({kElements})).input(mixed({kElements}));
       return std::move(test.set("equation", "i,i->i"));
     }},
    {"LSTM",
     [] {
       OpTest test("LSTM");
       test.input(mixed({kElements >> 4, 1, 1})).input(filled<float>({1, 16, 1}, 0.1f));
       return std::move(test.input(filled<float>({1, 16, 4}, 0.1f)).set("hidden_size", 4));
     }},
    {"Det",
     [] {
       return OpTest("Det").input(random_tensor<float>({512, 512}, 1));
     }},
    {"Imputer",
     [] {
       OpTest test("Imputer", 1, kMl);
       test.input(mixed({kSide, kSide})).attribute("imputed_value_floats", std::vector<float>{1});
       return test;
     }},
    {"Scaler",
     [] {
       return OpTest("Scaler", 1, kMl).input(mixed({kSide, kSide}));
     }},
    {"Normalizer",
     [] {
       return OpTest("Normalizer", 1, kMl).input(mixed({kSide, kSide}));
     }},
    {"ReduceLike",
     [] {
       return OpTest("ReduceLike", 1, "ortolan").input(mixed({kSide, kSide})).input(mixed({1, kSide}));
     }},
    {"DynamicTimeWarping",
     [] {
       return OpTest("DynamicTimeWarping", 1, kMicrosoft).input(mixed({kSide, kSide}));
     }},
    {"BifurcationDetector",
     [] {
       OpTest test("BifurcationDetector", 1, kMicrosoft);
       test.input(filled<int64_t>({kElements}, 7)).input(filled<int64_t>({64}, 8)).input<int64_t>({}, {0});
       return test;
     },
     2},
    {"Loss",
     [] {
       OpTest test("NegativeLogLikelihoodLoss");
       return std::move(test.input(mixed({kElements, 1})).input(filled<int64_t>({kElements}, 0)));
     }},
};

const LongCase kTexts[] = {
    {"StringConcat", [] { return OpTest("StringConcat", 20).input(words({kElements})).input(words({kElements})); }},
    {"StringNormalizer", [] { return OpTest("StringNormalizer").input(words({kElements})); }},
    {"StringSplit", [] { return OpTest("StringSplit", 20).input(words({kElements})); }, 2},
    {"StringSplitOfOne",
     [] {
       return OpTest("StringSplit", 20)
           .input<std::string>({1}, {std::string(64 * kElements, 'x')})
           .set("delimiter", ",");
     },
     2},
    {"Tokenizer",
     [] {
       return OpTest("Tokenizer", 1, kMicrosoft)
           .input<std::string>({1}, {std::string(kElements, 'x')})
           .set("mark", 0)
           .set("mincharnum", 1)
           .set("pad_value", "#")
           .attribute("separators", std::vector<std::string>{""});
     }},
    {"RegexFullMatch",
     [] {
       return OpTest("RegexFullMatch", 20)
           .input<std::string>({2048}, std::vector<std::string>(2048, std::string(kElements / 1024, 'x')))
           .set("pattern", "x*");
     }},
    {"TfIdfVectorizer",
     [] {
       OpTest test("TfIdfVectorizer");
       test.input(mixed<int64_t>({kElements})).set("mode", "TF").set("min_gram_length", 1).set("max_gram_length", 1);
       test.set("max_skip_count", 0).ints("ngram_counts", {0}).ints("ngram_indexes", {0});
       return std::move(test.ints("pool_int64s", {3}));
     }},
};

std::string name_of(const testing::TestParamInfo<LongCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Moves, TerminateLooks, testing::ValuesIn(kMoves), name_of);
INSTANTIATE_TEST_SUITE_P(Computed, TerminateLooks, testing::ValuesIn(kComputed), name_of);
INSTANTIATE_TEST_SUITE_P(Texts, TerminateLooks, testing::ValuesIn(kTexts), name_of);

/** What the error says that ends the node's run, which is told to stop when it takes long. */
std::string watched_error(const NodeCase& node, size_t outputs = 1) {
  RunOptions options;
  std::atomic<bool> loading{false};
  RunWatch::instance().begin(&options, &loading);
  std::string text;
  try {
    run_node(node, Way::kUnknownShapes, outputs, alone(), &options);
  } catch (const Error& error) {
    text = error.what();
  }
  RunWatch::instance().end();
  return text;
}

TEST(EmptyRows, AreNoWorkHoweverManyThereAre) {
  const Tensor rows(ElementType::kFloat, Shape{kEndless, 0});
  EXPECT_EQ(watched_error(OpTest("Compress").input(rows).input(filled<bool>({1}, true)).set("axis", 1).node()), "");
  EXPECT_EQ(watched_error(OpTest("NonZero").input(rows).node()), "");
  EXPECT_EQ(watched_error(OpTest("Normalizer", 1, kMl).input(rows).node()), "");
  EXPECT_EQ(watched_error(OpTest("FeatureVectorizer", 1, kMl).input(rows).node()), "");
  EXPECT_EQ(watched_error(OpTest("DynamicTimeWarping", 1, kMicrosoft).input(rows).node()), "");
}

/** A body that gives what it gets. */
void pass_on(Graph& body) {
  ValueInfo* in = body.add_value("in", TypeInfo::of_tensor(ElementType::kFloat));
  in->is_input = true;
  body.inputs.push_back(in);
  ValueInfo* out = body.add_value("out");
  body.add_node("pass", "Identity", "", {in}, {out})->opset = 17;
  body.mark_output(out);
}

TEST(EmptySteps, EndWhenTheRunIsToStop) {
  OpTest scan("Scan");
  scan.input(Tensor(ElementType::kFloat, Shape{kEndless, 0})).set("num_scan_inputs", 1);
  NodeCase node = scan.node();
  node.subgraphs = {{"body", pass_on}};
  EXPECT_NE(watched_error(node).find("the run was stopped because terminate is set in its run options"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
