// What a test states of an exception: that it comes, and what it tells the user.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace ortolan::base {
class Error;
}

namespace ortolan::test {

/** The text of the Exception that `body` throws; empty where it throws none. */
template <class Exception = base::Error>
std::string error_of(auto&& body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

/** `body` throws an Exception whose text holds `part`: the few words that tell this error from others. */
template <class Exception = base::Error>
::testing::AssertionResult throws(const std::string& part, auto&& body) {
  const std::string text = error_of<Exception>(body);
  if (text.empty()) return ::testing::AssertionFailure() << "nothing was thrown";
  if (!part.empty() && text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the text '" << text << "' is not told by '" << part << "'";
}

}  // namespace ortolan::test
