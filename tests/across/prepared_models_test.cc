// Every operator that packs its constants finds all it packs in a prepared model, and computes the same with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "alike_models.h"
#include "runtime/kernels/packed_weights.h"

namespace ortolan::across {
namespace {

/** Keeps what sessions say of prepared models. */
class Listener final : public base::LogSink {
 public:
  void write(base::Severity, std::string_view, std::string_view, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (text.find("prepared") != std::string_view::npos) said_.emplace_back(text);
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(said_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> said_;
};

bool equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return x.byte_count() == y.byte_count() && std::memcmp(x.raw(), y.raw(), x.byte_count()) == 0;
  });
}

class PreparedModels : public testing::TestWithParam<const char*> {};

TEST_P(PreparedModels, HoldWhatEveryOperatorPacks) {
  size_t forms = 0;
  for (const OperatorCase& node : operator_cases()) {
    SCOPED_TRACE(node.label());
    const AlikeModel model{{{&node, 0}, {&node, 1}}};
    const auto listener = std::make_shared<Listener>();
    SessionOptions options;
    options.log_sink = listener;
    options.log_severity = static_cast<int>(base::Severity::kInfo);
    options.config["ortolan.cpu.fp32_precision"] = GetParam();
    const auto packed = std::make_shared<PackedWeightsCache>(WeightsKey::kOwner);
    const auto plain = PlacedModel(model, {Source::kFile}).session(options, packed);
    const std::vector<Tensor> expected = run(*plain, model);
    listener->take();

    const PlacedModel placed(model, {Source::kPrepared});
    for (const char* time : {"written", "there already"}) {
      const auto session = placed.session(options, nullptr);
      const std::vector<std::string> said = listener->take();
      const std::string wanted =
          join("of the prepared model come ", packed->counts().made, " packed forms of weights; 0 others were packed");
      EXPECT_EQ(said, std::vector{wanted}) << time;
      EXPECT_TRUE(equal(run(*session, model), expected)) << time;
    }
    forms += packed->counts().made;
  }
  EXPECT_GT(forms, operator_cases().size());
  std::printf("%zu forms\n", forms);
}

INSTANTIATE_TEST_SUITE_P(, PreparedModels, testing::Values("default", "exact", "bf16"));

}  // namespace
}  // namespace ortolan::across
