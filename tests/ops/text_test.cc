// StringNormalizer, StringConcat, StringSplit, RegexFullMatch, TfIdfVectorizer.
#include <map>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Words = std::vector<std::string>;

TEST(StringNormalizer, DropsWordsAndChangesCase) {
  auto normal = [](const Words& words, const char* action, Words stop, int sensitive) {
    return OpTest("StringNormalizer", 10)
        .set("case_change_action", action)
        .set("is_case_sensitive", sensitive)
        .attribute("stopwords", std::move(stop))
        .input<std::string>({static_cast<int64_t>(words.size())}, words)
        .run_tensor();
  };
  EXPECT_TRUE(
      equal<std::string>(normal({"Monday", "TUESDAY", "monday"}, "LOWER", {"monday"}, 1), {2}, {"monday", "tuesday"}));
  EXPECT_TRUE(equal<std::string>(normal({"Monday", "x"}, "UPPER", {"MONDAY"}, 0), {1}, {"X"}));
  EXPECT_TRUE(equal<std::string>(normal({"a"}, "NONE", {"a"}, 1), {1}, {""}));
  EXPECT_TRUE(equal<std::string>(normal({"ÄÖ Ωмир ǅ", "ß"}, "LOWER", {}, 1), {2}, {"äö ωмир ǆ", "ß"}));
  EXPECT_TRUE(equal<std::string>(normal({"straße ÿ я", "\xff\xc3", "\xc1\xa1"}, "UPPER", {}, 1), {3},
                                 {"STRAßE Ÿ Я", "\xff\xc3", "\xc1\xa1"}));
  Tensor row =
      OpTest("StringNormalizer").attribute("stopwords", Words{"a"}).input<std::string>({1, 2}, {"a", "b"}).run_tensor();
  EXPECT_TRUE(equal<std::string>(row, {1, 1}, {"b"}));
  EXPECT_NE(OpTest("StringNormalizer").input<std::string>({2, 1}, {"a", "b"}).error().find("the input has shape [2,1]"),
            std::string::npos);
}

TEST(StringConcat, LongTexts) {
  std::string a(100, 'a'), b(7, 'b');
  EXPECT_TRUE(equal<std::string>(
      OpTest("StringConcat", 20).input<std::string>({3}, {a, b, ""}).input<std::string>({3}, {b, b, a}).run_tensor(),
      {3}, {a + b, b + b, a}));
}

TEST(StringConcat, Broadcasts) {
  Tensor result =
      OpTest("StringConcat", 20).input<std::string>({2, 1}, {"a", "b"}).input<std::string>({2}, {"x", ""}).run_tensor();
  EXPECT_TRUE(equal<std::string>(result, {2, 2}, {"ax", "a", "bx", "b"}));
  EXPECT_NE(OpTest("StringConcat", 20)
                .input<std::string>({2}, {"a", "b"})
                .input<std::string>({3}, {"x", "y", "z"})
                .error()
                .find("shapes [2] and [3]: dimensions 2 and 3 differ and neither is 1,"),
            std::string::npos);
}

TEST(StringSplit, ByDelimiterOrSpace) {
  auto split = [](const char* text, const char* delimiter, int most) {
    OpTest test("StringSplit", 20);
    if (*delimiter) test.set("delimiter", delimiter);
    if (most >= 0) test.set("maxsplit", most);
    auto parts = test.input<std::string>({1}, {text}).run(2);
    EXPECT_EQ(parts[1].tensor().data<int64_t>()[0], parts[0].tensor().shape()[1]);
    auto words = parts[0].tensor().span<std::string>();
    return Words(words.begin(), words.end());
  };
  EXPECT_EQ(split(" a  b c ", "", -1), (Words{"a", "b", "c"}));
  EXPECT_EQ(split(" a  b c ", "", 1), (Words{"a", "b c "}));
  EXPECT_EQ(split("a,,b", ",", -1), (Words{"a", "", "b"}));
  EXPECT_EQ(split("a,b,c", ",", 1), (Words{"a", "b,c"}));
  EXPECT_EQ(split("", ",", -1), (Words{""}));
  EXPECT_EQ(split("", "", -1), Words{});
  EXPECT_EQ(split("aabab", "ab", -1), (Words{"a", "", ""}));
  EXPECT_EQ(split("aa", "aaa", -1), (Words{"aa"}));
  EXPECT_EQ(split("\t a\v\fb\r\n", "", -1), (Words{"a", "b"}));
  std::vector<std::string> many(1000, "a b c"), expected;
  for (int i = 0; i < 3000; ++i) expected.push_back(i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c");
  Tensor thousand = OpTest("StringSplit", 20).input<std::string>({1000}, many).run(2)[0].tensor();
  EXPECT_TRUE(equal<std::string>(thousand, {1000, 3}, expected));
  auto uneven = OpTest("StringSplit", 20).input<std::string>({2}, {"a b", "c"}).run(2);
  EXPECT_TRUE(equal<std::string>(uneven[0].tensor(), {2, 2}, {"a", "b", "c", ""}));
}

TEST(RegexFullMatch, FollowsTheSyntax) {
  struct Case {
    const char* pattern;
    Words yes, no;
  };
  const Case cases[] = {
      {"a|bc|d", {"a", "bc", "d"}, {"ab", "", "abc"}},
      {"(ab)*c?", {"", "ab", "ababc", "c"}, {"abb", "cc"}},
      {"x{2,3}y{2}z{1,}", {"xxyyz", "xxxyyzzz"}, {"xyyz", "xxxxyyz", "xxyyyz"}},
      {"[^a-c\\d]+", {"xyz", "é"}, {"a", "x1"}},
      {"\\w+@\\w+\\.com", {"a_1@b.com"}, {"a@bxcom", "@b.com"}},
      {"(?:a|b)(?P<n>c|d)+?", {"ac", "bdcd"}, {"a", "cd"}},
      {".", {"é"}, {"\n", "ab", "\xff"}},
      {"(?i)grün|(?s:.)x", {"GRÜN", "\nx"}, {"gruen"}},
      {"\\p{Lu}\\pL*", {"Übung", "Ω"}, {"übung", "Ab1"}},
      {"^a$|\\bb\\b", {"a", "b"}, {"aa"}},
      {"(a*)*(b|c|d|e)", {"aaab", "e"}, {"aaa"}},
      {"a{,2}", {"a{,2}"}, {"aa"}},
      {"[]a-]+", {"]a-"}, {"b"}},
      {"[[:digit:]]\\x41\\x{e9}", {"7Aé"}, {"xAé"}},
      {"((a|b)|(c|d)){2}x", {"adx", "bbx"}, {"ax", "abcx"}},
      {"", {""}, {"a"}},
  };
  for (const Case& c : cases) {
    for (bool expected : {true, false}) {
      for (const std::string& text : expected ? c.yes : c.no) {
        Tensor result =
            OpTest("RegexFullMatch", 20).set("pattern", c.pattern).input<std::string>({1}, {text}).run_tensor();
        EXPECT_EQ(result.data<bool>()[0], expected) << c.pattern << " on " << text;
      }
    }
  }
}

TEST(RegexFullMatch, IsLinearAndRefusesNonsense) {
  std::string many(5000, 'a');
  Tensor result =
      OpTest("RegexFullMatch", 20).set("pattern", "(a*)*(a|aa)*b").input<std::string>({1}, {many}).run_tensor();
  EXPECT_FALSE(result.data<bool>()[0]);
  for (const char* pattern : {"(", ")", "a)", "[a", "[b-a]", "*", "a**", "\\", "\\1", "a{3,2}", "a{2000}", "(?=a)",
                              "[[:no:]]", "\\x{110000}", "((((a{999}){999}){999}))"}) {
    EXPECT_NE(OpTest("RegexFullMatch", 20)
                  .set("pattern", pattern)
                  .input<std::string>({1}, {"a"})
                  .error()
                  .find("cannot be read: "),
              std::string::npos)
        << pattern;
  }
  EXPECT_NE(OpTest("RegexFullMatch", 20)
                .set("pattern", std::string(100000, '(').c_str())
                .input<std::string>({1}, {"a"})
                .error()
                .find("the pattern"),
            std::string::npos);
}

OpTest n_grams(const char* mode, int shortest, int longest, int skips) {
  OpTest test("TfIdfVectorizer", 9);
  test.set("mode", mode).set("min_gram_length", shortest).set("max_gram_length", longest).set("max_skip_count", skips);
  return test.ints("ngram_counts", {0, 2}).ints("ngram_indexes", {0, 1, 3, 2}).ints("pool_int64s", {5, 7, 5, 7, 7, 5});
}

TEST(TfIdfVectorizer, AgreesWithADictionary) {
  std::mt19937 random(test_seed());
  auto draw = [&](int64_t below) { return static_cast<int64_t>(random() % static_cast<uint32_t>(below)); };
  for (int round = 0; round < 40; ++round) {
    const int64_t longest = 1 + draw(3), skips = draw(3), width = 40;
    std::map<std::vector<int64_t>, int64_t> places;
    std::vector<int64_t> pool, starts, indexes;
    for (int64_t n = 1; n <= longest; ++n) {
      starts.push_back(static_cast<int64_t>(pool.size()));
      for (int64_t left = draw(12); left > 0; --left) {
        std::vector<int64_t> gram;
        for (int64_t i = 0; i < n; ++i) gram.push_back(draw(6) * 1000003 - 7);
        if (!places.try_emplace(gram, static_cast<int64_t>(indexes.size())).second) continue;
        pool.insert(pool.end(), gram.begin(), gram.end());
        indexes.push_back(static_cast<int64_t>(indexes.size()));
      }
    }
    if (pool.empty()) continue;
    indexes.back() = width - 1;
    for (auto& [gram, place] : places) place = indexes[static_cast<size_t>(place)];
    std::vector<int64_t> text;
    for (int64_t i = 0; i < 50; ++i) text.push_back(draw(7) * 1000003 - 7);
    std::vector<double> expected(static_cast<size_t>(width), 0.0);
    for (int64_t step = 1; step <= skips + 1; ++step) {
      for (int64_t begin = 0; begin < 50; ++begin) {
        std::vector<int64_t> gram;
        for (int64_t at = begin; at < 50 && std::ssize(gram) < longest; at += step) {
          gram.push_back(text[static_cast<size_t>(at)]);
          auto found = places.find(gram);
          if (found != places.end() && (gram.size() > 1 || step == 1)) ++expected[static_cast<size_t>(found->second)];
        }
      }
    }
    OpTest test("TfIdfVectorizer", 9);
    test.set("mode", "TF").set("min_gram_length", 1).set("max_gram_length", longest).set("max_skip_count", skips);
    test.ints("ngram_counts", starts).ints("ngram_indexes", indexes).ints("pool_int64s", pool);
    EXPECT_TRUE(near(test.input<int64_t>({50}, text).run_tensor(), {width}, expected)) << "round " << round;
  }
}

TEST(TfIdfVectorizer, CountsAndWeighs) {
  EXPECT_TRUE(near(n_grams("TF", 1, 2, 0).input<int64_t>({5}, {5, 7, 5, 9, 7}).run_tensor(), {4}, {2, 2, 1, 1}));
  EXPECT_TRUE(near(n_grams("TF", 2, 2, 2).input<int32_t>({1, 5}, {5, 7, 5, 9, 7}).run_tensor(), {1, 4}, {0, 0, 1, 2}));
  auto weights = std::vector<float>{2, 3, 5, 7};
  EXPECT_TRUE(near(n_grams("TFIDF", 1, 1, 0).attribute("weights", weights).input<int64_t>({3}, {5, 5, 7}).run_tensor(),
                   {4}, {4, 3, 0, 0}));
  EXPECT_TRUE(near(n_grams("IDF", 1, 2, 0).attribute("weights", weights).input<int64_t>({3}, {5, 5, 7}).run_tensor(),
                   {4}, {2, 3, 0, 5}));
  EXPECT_TRUE(near(n_grams("TF", 1, 2, 0).input<int64_t>({0}, {}).run_tensor(), {4}, {0, 0, 0, 0}));
  EXPECT_TRUE(
      near(n_grams("TF", 1, 1, 0).ints("ngram_counts", {6}).input<int64_t>({1}, {5}).run_tensor(), {4}, {0, 0, 0, 0}));
  EXPECT_NE(n_grams("TF", 2, 1, 0)
                .input<int64_t>({1}, {5})
                .error()
                .find("min_gram_length 2, max_gram_length 1 and max_skip_count 0 are"),
            std::string::npos);
  EXPECT_NE(n_grams("TF", 1, 2, 0)
                .ints("ngram_counts", {0, 9})
                .input<int64_t>({1}, {5})
                .error()
                .find("ngram_counts gives [0, 9) for the 1-grams in a pool of 6"),
            std::string::npos);
  EXPECT_NE(n_grams("TF", 1, 2, 0)
                .ints("ngram_indexes", {0, 1})
                .input<int64_t>({1}, {5})
                .error()
                .find("the pool has more n-grams than the 2 entries of ngram_indexes"),
            std::string::npos);
  EXPECT_NE(n_grams("TF", 1, 2, 0)
                .ints("ngram_indexes", {0, 1, -3, 2})
                .input<int64_t>({1}, {5})
                .error()
                .find("ngram_indexes holds -3"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
