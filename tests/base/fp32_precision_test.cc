// Tests of the names of precisions of fp32 products.
#include "base/fp32_precision.h"

#include <gtest/gtest.h>

#include "../thrown_text.h"
#include "base/error.h"

namespace ortolan::base {
namespace {

TEST(Fp32Precision, HasNames) {
  for (const char* name : {"x6", "exact", "x3", "bf16"}) EXPECT_STREQ(name_of(parse_fp32_precision(name)), name);
  EXPECT_EQ(parse_fp32_precision("default"), Fp32Precision::kX6);
  for (const char* name : {"", "x", "X6", "x66", "fp32"}) {
    EXPECT_EQ(test::error_of([&] { parse_fp32_precision(name); }),
              "fp32 precision '" + std::string(name) +
                  "' is unknown; it must be 'x6' (or 'default'), 'exact', 'x3' or 'bf16'");
  }
}

}  // namespace
}  // namespace ortolan::base
