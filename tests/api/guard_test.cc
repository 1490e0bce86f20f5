// The barrier between exceptions and statuses.
#include "api/guard.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace ortolan::api {
namespace {

void expect_status(OrtStatus* status, OrtErrorCode code, const std::string& text) {
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(GetErrorCode(status), code);
  EXPECT_EQ(GetErrorMessage(status), text);
  ReleaseStatus(status);
}

TEST(Guard, SuccessIsNull) {
  EXPECT_EQ(guard([] {}), nullptr);
}

TEST(Guard, OurErrorKeepsCodeAndText) {
  expect_status(guard([] { base::fail(base::ErrorCode::kNoSuchFile, "no file '", "m.onnx", "'"); }), ORT_NO_SUCHFILE,
                "no file 'm.onnx'");
}

TEST(Guard, OtherExceptionsBecomeStatusesToo) {
  expect_status(guard([] { throw std::bad_alloc(); }), ORT_FAIL, "out of memory");
  expect_status(guard([] { throw std::runtime_error("odd"); }), ORT_RUNTIME_EXCEPTION, "odd");
  expect_status(guard([] { throw 7; }), ORT_RUNTIME_EXCEPTION, "an exception of unknown type");
}

TEST(Guard, AValueFallsBackWhenTheBodyThrows) {
  EXPECT_EQ(guard_or(3, [] { return 5; }), 5);
  EXPECT_EQ(guard_or(3, []() -> int { throw std::runtime_error("odd"); }), 3);
}

}  // namespace
}  // namespace ortolan::api
