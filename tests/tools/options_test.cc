// Tests of command lines.
#include "common/options.h"

#include <gtest/gtest.h>

#include "../thrown_text.h"
#include "common/error.h"

namespace ortolan::tools {
namespace {

struct Parsed {
  int level = 0;
  bool verbose = false;
  std::string name;
  std::vector<std::string> rest;
};

Parsed parse_all(std::vector<std::string> words) {
  Parsed out;
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  out.rest = parse(int(words.size()), argv.data(),
                   {"program",
                    "",
                    {{'o', "level", "N", "", into(out.level, "-o")},
                     {'v', "verbose", nullptr, "", turn(out.verbose)},
                     {0, "name", "NAME", "", into(out.name)}}});
  return out;
}

TEST(Options, LettersAndNamesWithOneOrTwoDashes) {
  Parsed out = parse_all({"a", "-o", "99", "-v", "-name", "x", "b"});
  EXPECT_EQ(out.level, 99);
  EXPECT_TRUE(out.verbose);
  EXPECT_EQ(out.name, "x");
  EXPECT_EQ(out.rest, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse_all({"--level=2", "--name=y"}).name, "y");
}

TEST(Options, WrongUseIsAnError) {
  const auto refuses = [](std::vector<std::string> words, const char* part) {
    return test::throws<UsageError>(part, [&] { parse_all(words); });
  };
  EXPECT_TRUE(refuses({"-q"}, "unknown option -q"));
  EXPECT_TRUE(refuses({"--nothing"}, "unknown option --nothing"));
  EXPECT_TRUE(refuses({"-o"}, "option -o needs a value"));
  EXPECT_TRUE(refuses({"-o", "many"}, "-o must be a whole number, not 'many'"));
  EXPECT_TRUE(refuses({"-o", "-5"}, "not -5"));
}

}  // namespace
}  // namespace ortolan::tools
