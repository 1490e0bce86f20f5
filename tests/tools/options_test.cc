// Tests of command lines.
#include "common/options.h"

#include <gtest/gtest.h>

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
  EXPECT_THROW(parse_all({"-q"}), UsageError);
  EXPECT_THROW(parse_all({"--nothing"}), UsageError);
  EXPECT_THROW(parse_all({"-o"}), UsageError);
  EXPECT_THROW(parse_all({"-o", "many"}), UsageError);
  EXPECT_THROW(parse_all({"-o", "-5"}), UsageError);
}

}  // namespace
}  // namespace ortolan::tools
