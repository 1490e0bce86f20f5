// Tokenizer: its three modes, marks and padding; and what it rests on, searches and steps in UTF-8.
#include "cpu/text/regex.h"

#include <regex>

#include "cpu/text/utf8.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

using Strings = std::vector<std::string>;

OpTest tokenizer(Shape shape, const Strings& texts, int64_t least = 1, int64_t mark = 0) {
  return OpTest("Tokenizer", 1, "com.microsoft")
      .input<std::string>(std::move(shape), texts)
      .set("mincharnum", least)
      .set("mark", mark)
      .set("pad_value", "~");
}

OpTest separated(Shape shape, const Strings& texts, Strings separators, int64_t least = 1, int64_t mark = 0) {
  return tokenizer(std::move(shape), texts, least, mark).attribute("separators", std::move(separators));
}

TEST(Tokenizer, Separators) {
  EXPECT_TRUE(equal<std::string>(separated({2}, {"Hello World", " I  am !"}, {" "}).run_tensor(), {2, 3},
                                 {"Hello", "World", "~", "I", "am", "!"}));
  EXPECT_TRUE(equal<std::string>(separated({1, 2}, {"a,b;c", "d"}, {",", "[;:]"}, 1, 1).run_tensor(), {1, 2, 5},
                                 {"\x02", "a", "b", "c", "\x03", "\x02", "d", "\x03", "~", "~"}));
  EXPECT_TRUE(equal<std::string>(separated({1}, {"naïve é über"}, {" "}, 2).run_tensor(), {1, 2}, {"naïve", "über"}));
  EXPECT_TRUE(equal<std::string>(separated({1}, {"xxabbcxx"}, {"a|abb"}).run_tensor(), {1, 2}, {"xx", "cxx"}));
  EXPECT_TRUE(equal<std::string>(separated({2}, {"  ", ""}, {" "}, 1, 1).run_tensor(), {2, 0}, {}));
  EXPECT_TRUE(equal<std::string>(separated({1}, {"abxc"}, {"x*"}).run_tensor(), {1, 0}, {}));
}

TEST(Tokenizer, ExpressionAndCharacters) {
  EXPECT_TRUE(equal<std::string>(tokenizer({2}, {"ab 12-x", "é9"}).set("tokenexp", "[a-z]+|\\d+").run_tensor(), {2, 3},
                                 {"ab", "12", "x", "9", "~", "~"}));
  EXPECT_TRUE(equal<std::string>(tokenizer({1}, {"a bcd ef"}, 2).set("tokenexp", "[a-z]+").run_tensor(), {1, 2},
                                 {"bcd", "ef"}));
  EXPECT_TRUE(equal<std::string>(tokenizer({2}, {"aé本", ""}).set("tokenexp", ".").run_tensor(), {2, 3},
                                 {"a", "é", "本", "~", "~", "~"}));
  EXPECT_EQ(separated({2}, {"", ""}, {""}, 1, 1).run_tensor().shape(), (Shape{2, 0}));
  EXPECT_TRUE(equal<std::string>(separated({1}, {"xy"}, {""}, 1, 1).run_tensor(), {1, 4}, {"\x02", "x", "y", "\x03"}));
}

TEST(Tokenizer, EmptyInput) {
  EXPECT_EQ(separated({0}, {}, {" "}).run_tensor().shape(), (Shape{0}));
  EXPECT_EQ(separated({3, 0}, {}, {" "}).run_tensor().shape(), (Shape{3, 0}));
  EXPECT_EQ(separated({0, 3}, {}, {" "}).run_tensor().shape(), (Shape{0, 0}));
}

TEST(Tokenizer, Errors) {
  EXPECT_NE(separated({1}, {"a\xff"}, {" "}).error().find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(separated({1}, {"\xed\xa0\x80"}, {" "}).error().find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(separated({2}, {"ab", "a\xc3"}, {""}).error().find("string 1 is not valid UTF-8"), std::string::npos);
  EXPECT_NE(separated({1}, {"a"}, {" "}, 0).error().find("mincharnum is 0"), std::string::npos);
  EXPECT_NE(separated({1}, {"a"}, {""}, 2).error().find("single characters"), std::string::npos);
  EXPECT_NE(separated({1}, {"a"}, {"("}).error().find("the pattern '(' cannot be read: missing )"), std::string::npos);
  EXPECT_NE(tokenizer({1}, {"a"}).error().find("neither separators nor tokenexp"), std::string::npos);
  EXPECT_NE(separated({1, 1, 1}, {"a"}, {" "}).error().find("input 0 has rank 3"), std::string::npos);
}

using Match = std::pair<size_t, size_t>;

TEST(Regex, FindsLeftmostLongest) {
  auto find = [](const char* pattern, const char* text, size_t from = 0) {
    return cpu::Regex(pattern).find(text, from);
  };
  EXPECT_EQ(find("a|ab|abc", "xabcd"), (Match{1, 4}));
  EXPECT_EQ(find("abcd|bc", "abcxabcd"), (Match{1, 3}));
  EXPECT_EQ(find("abcd|bc", "abcd"), (Match{0, 4}));
  EXPECT_EQ(find("abcd|bc", "abcxabcd", 2), (Match{4, 8}));
  EXPECT_EQ(find("x*", "abxxc"), (Match{0, 0}));
  EXPECT_EQ(find("x*", "abxxc", 2), (Match{2, 4}));
  EXPECT_EQ(find("^b", "ab", 1), std::nullopt);
  EXPECT_EQ(find("\\bb", "ab b"), (Match{3, 4}));
  EXPECT_EQ(find("$", "ab"), (Match{2, 2}));
  EXPECT_EQ(find("é+", "caféé!"), (Match{3, 7}));
  EXPECT_EQ(find("a", "b"), std::nullopt);
  EXPECT_EQ(find("a", "a", 2), std::nullopt);
  EXPECT_EQ(find("(?i)STRASSE|é+?", "Straßestrasse"), (Match{7, 14}));
  EXPECT_EQ(find("\\p{Greek}+", "a λόγος"), (Match{2, 12}));
  EXPECT_EQ(find(".+",
                 "\xff"
                 "ab\xc3"),
            (Match{1, 3}));
}

/** A random pattern over a, b and c in which std::regex understands the same. What repeats holds no repetition, which
    would take std::regex time that grows exponentially. */
std::string random_pattern(std::mt19937& random, int depth) {
  auto one_of = [&](std::initializer_list<const char*> choices) { return choices.begin()[random() % choices.size()]; };
  std::string pattern;
  for (size_t left = 1 + random() % 3; left > 0; --left) {
    if (depth > 0 && random() % 3 == 0) {
      pattern += "(?:" + random_pattern(random, depth - 1) + ")" + one_of({"", "?"});
    } else {
      pattern += one_of({"a", "b", "c", "[ab]", "[^a]", ".", "(?:a|bc)", "(?:ab|a)"});
      pattern += one_of({"", "", "*", "+", "?", "{2}", "{1,3}"});
    }
  }
  return random() % 3 == 0 ? pattern + "|" + random_pattern(random, 0) : pattern;
}

std::string random_text(std::mt19937& random, const std::vector<std::string>& letters) {
  std::string text;
  for (size_t left = random() % 9; left > 0; --left) text += letters[random() % letters.size()];
  return text;
}

std::optional<Match> leftmost_longest(const std::regex& regex, const std::string& text, size_t from) {
  for (size_t begin = from; begin <= text.size(); ++begin) {
    for (size_t end = text.size() + 1; end-- > begin;) {
      if (std::regex_match(text.begin() + static_cast<long>(begin), text.begin() + static_cast<long>(end), regex)) {
        return Match{begin, end};
      }
    }
  }
  return std::nullopt;
}

TEST(Regex, AgreesWithTheLibrarys) {
  std::mt19937 random(test_seed());
  for (int i = 0; i < 300; ++i) {
    std::string pattern = random_pattern(random, 2), text = random_text(random, {"a", "b", "c", "d"});
    cpu::Regex regex(pattern);
    std::regex library(pattern);
    EXPECT_EQ(regex.matches(text), std::regex_match(text, library)) << pattern << " " << text;
    size_t from = text.empty() ? 0 : random() % text.size();
    EXPECT_EQ(regex.find(text, from), leftmost_longest(library, text, from)) << pattern << " " << text;
  }
}

TEST(Regex, LongFailuresTakeLinearTime) {
  std::string text(300000, 'a');
  EXPECT_EQ(cpu::Regex("a+b").find(text, 0), std::nullopt);
  EXPECT_EQ(cpu::Regex("a{500}b|c").find(text + "c", 0), (Match{300000, 300001}));
  EXPECT_EQ(cpu::Regex("(?:a|b)*a(?:a|b){20}c").find(text, 0), std::nullopt);
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(cpu::count_code_points("aé本😀"), 4u);
  EXPECT_EQ(cpu::count_code_points(""), 0u);
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xed\xa0\x80", "\xc1\xbf",
                          "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xe2\x28\xa1"}) {
    EXPECT_EQ(cpu::count_code_points(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace ortolan::test
