// Named checks, each printed as one line: ok, FAIL with the reason, or n/a where the API level is too old for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

namespace ortolan::plugin_test {

/** What a check found to be wrong. */
struct Mismatch {
  std::string text;
};

inline void expect(bool holds, const std::string& text) {
  if (!holds) throw Mismatch{text};
}

template <class Left, class Right>
void expect_equal(const Left& found, const Right& wanted, const std::string& what) {
  if constexpr (std::is_convertible_v<const Left&, std::string>) {
    expect(found == wanted, what + ": '" + found + "', not '" + wanted + "'");
  } else {
    if (!(found == wanted)) throw Mismatch{what + ": " + std::to_string(found) + ", not " + std::to_string(wanted)};
  }
}

class Suite {
 public:
  explicit Suite(uint32_t level) : level_(level) {}

  /** Runs the check unless it needs a newer level; its body throws Mismatch. */
  template <class Body>
  void check(const std::string& name, uint32_t since, Body&& body) {
    if (level_ < since) return report("n/a ", name, "needs API " + std::to_string(since), not_applicable_);
    try {
      body();
      report("ok  ", name, "", passed_);
    } catch (const Mismatch& mismatch) {
      report("FAIL", name, mismatch.text, failed_);
    } catch (const std::exception& error) {
      report("FAIL", name, error.what(), failed_);
    }
  }
  int summary() const {
    std::printf("%d checks at API %u: %d passed, %d failed, %d not applicable\n", passed_ + failed_ + not_applicable_,
                level_, passed_, failed_, not_applicable_);
    return failed_;
  }

 private:
  void report(const char* outcome, const std::string& name, const std::string& detail, int& count) {
    count++;
    std::printf("%s  %s%s%s\n", outcome, name.c_str(), detail.empty() ? "" : ": ", detail.c_str());
    std::fflush(stdout);
  }

  const uint32_t level_;
  int passed_ = 0;
  int failed_ = 0;
  int not_applicable_ = 0;
};

/** What a program of checks ends with: what `run` gives, or 99 where its arguments are not those that `usage` names
 * behind the program's name, or where the checks cannot begin. */
inline int run_checks(int argc, char** argv, const std::string& usage, int (*run)(char** argv)) {
  const std::string name = usage.substr(0, usage.find(' '));
  try {
    if (argc != 1 + std::count(usage.begin(), usage.end(), ' ')) throw Mismatch{"usage: " + usage};
    return run(argv);
  } catch (const Mismatch& mismatch) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), mismatch.text.c_str());
    return 99;
  }
}

}  // namespace ortolan::plugin_test
