// The hash of texts from files: equal for equal texts, apart for others.
#include "base/text_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ortolan::base {
namespace {

TEST(TextHash, FollowsTheTextAlone) {
  TextHash hash;
  std::string text = "a name of more than eight bytes";
  EXPECT_EQ(hash(text), hash(std::string(text)));
  EXPECT_EQ(hash(std::string_view(text).substr(0, 6)), hash("a name"));
  EXPECT_NE(hash("a"), hash(std::string_view("a\0", 2)));
  EXPECT_NE(hash(""), hash(std::string_view("\0", 1)));
}

TEST(TextHash, KeepsNamesApart) {
  TextHash hash;
  std::set<size_t> seen;
  for (int i = 0; i < 20000; ++i) seen.insert(hash("value_" + std::to_string(i)));
  EXPECT_EQ(seen.size(), 20000u);
}

}  // namespace
}  // namespace ortolan::base
