// Session entries read as what they mean.
#include "runtime/session/session_entries.h"

#include <charconv>

namespace ortolan::runtime {
namespace {

#if defined(__aarch64__)
constexpr bool kIsArm64 = true;
#else
constexpr bool kIsArm64 = false;
#endif

}  // namespace

bool is_on(const SessionOptions& options, std::string_view key, bool fallback) {
  return options.config_or(key, fallback ? "1" : "0") == "1";
}

int64_t number_or(const SessionOptions& options, std::string_view key, int64_t fallback) {
  std::string_view text = options.config_or(key, "");
  if (text.empty()) return fallback;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value > 0, ErrorCode::kInvalidArgument,
          "session entry '", key, "' is '", text, "'; it must be a positive number");
  return value;
}

bool follows_nodes(const SessionOptions& options) {
  constexpr std::string_view kKey = "ortolan.numa";
  const std::string_view text = options.config_or(kKey, "0");
  require(text == "0" || text == "1", ErrorCode::kInvalidArgument, "session entry '", kKey, "' is '", text,
          "'; it must be 0 or 1");
  return text == "1";
}

base::Fp32Precision precision_of(const SessionOptions& options) {
  constexpr std::string_view kKey = "ortolan.cpu.fp32_precision";
  const bool fast = kIsArm64 && is_on(options, "mlas.enable_gemm_fastmath_arm64_bfloat16", false);
  const auto fallback = fast ? base::Fp32Precision::kBf16 : base::Fp32Precision::kX6;
  try {
    return base::parse_fp32_precision(options.config_or(kKey, base::name_of(fallback)));
  } catch (const Error& error) {
    throw error.within(join("session entry '", kKey, "'"));
  }
}

}  // namespace ortolan::runtime
