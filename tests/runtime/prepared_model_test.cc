// Prepared models: when they are made, when they serve, and what damaged ones end in.
#include "runtime/session/prepared_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include "base/digest.h"
#include "model_builder.h"
#include "onnx/writer.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {
namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 64, kTableAt = 24, kTableHash = 40;  // of the head

class Said final : public base::LogSink {
 public:
  void write(base::Severity severity, std::string_view, std::string_view, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (severity >= base::Severity::kWarning) warnings_ += text;
  }
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(warnings_, {});
  }

 private:
  std::mutex mutex_;
  std::string warnings_;
};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class PreparedModelTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "ortolan_prepared_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    write_model(1);
    options_.log_sink = said_;
    options_.config["ortolan.prepared_model_path"] = prepared();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string model() const { return folder_ / "m.onnx"; }
  std::string prepared() const { return folder_ / "m.prepared"; }

  /** y = relu(x W), W of `scale` times small whole numbers. */
  void write_model(float scale) const {
    Builder build;
    ValueInfo* x = build.input("x", SymbolicShape(Shape{2, 64}));
    Tensor weights(ElementType::kFloat, Shape{64, 48});
    auto values = weights.mutable_span<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i * 7 % 13);
    ValueInfo* w = build.graph().add_initializer("w", weights);
    build.graph().mark_output(build.node("Relu", {build.node("MatMul", {x, w}, "product")}, "y"));
    write_bytes(model(), onnx::write_model_bytes(*build.model));
  }

  std::unique_ptr<Session> session(const std::string& path) const {
    return Session::from_file(environment(), path, options_, nullptr);
  }
  static float result(const Session& session) {
    Tensor x(ElementType::kFloat, Shape{2, 64});
    for (float& value : x.mutable_span<float>()) value = 1;
    const Value input(x);
    const Value* inputs[] = {&input};
    const char *names[] = {"x"}, *wanted[] = {"y"};
    Value outputs[1];
    session.run(nullptr, names, inputs, wanted, outputs);
    return outputs[0].tensor().data<float>()[3];
  }
  float result() const { return result(*session(model())); }

  /** Whether the next session writes the file, and what it warns of meanwhile. */
  std::string warnings_of_new_session(bool writes) {
    const auto before = fs::exists(prepared()) ? bytes_of(prepared()) : "";
    const std::string moved = prepared() + ".before";
    if (!before.empty()) fs::create_hard_link(prepared(), moved);
    said_->take();
    EXPECT_EQ(result(), expected_);
    const bool same_file = !before.empty() && fs::equivalent(prepared(), moved);
    EXPECT_EQ(same_file, !writes);
    fs::remove(moved);
    return said_->take();
  }

  fs::path folder_;
  std::shared_ptr<Said> said_ = std::make_shared<Said>();
  SessionOptions options_;
  float expected_ = 0;
};

TEST_F(PreparedModelTest, IsMadeOnceAndServesOtherSessionsAndItself) {
  const SessionOptions plain;
  expected_ = result(*Session::from_file(environment(), model(), plain, nullptr));
  EXPECT_EQ(warnings_of_new_session(true), "");
  EXPECT_EQ(warnings_of_new_session(false), "");
  EXPECT_EQ(result(*Session::from_file(environment(), prepared(), plain, nullptr)), expected_);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2) << "a draft was left";
}

TEST_F(PreparedModelTest, IsMadeAnewWhereTheModelHasChanged) {
  expected_ = result();
  fs::last_write_time(model(), fs::last_write_time(model()) + std::chrono::seconds(5));
  EXPECT_EQ(warnings_of_new_session(false), "") << "the content is the same";
  write_model(2);
  expected_ *= 2;
  EXPECT_NE(warnings_of_new_session(true).find("the model has changed"), std::string::npos);
  EXPECT_EQ(warnings_of_new_session(false), "");
}

TEST_F(PreparedModelTest, IsMadeAnewForWhatDecidesOnIt) {
  expected_ = result();
  options_.config["session.intra_op.allow_spinning"] = "0";
  options_.intra_op_threads = 2;
  EXPECT_EQ(warnings_of_new_session(false), "") << "nothing of that is in the model";
  const std::function<void()> changes[] = {
      [&] { options_.level = RewriteLevel::kBasic; },
      [&] { options_.dimensions_by_name["N"] = 3; },
      [&] { options_.dimensions_by_denotation["DATA_BATCH"] = 3; },
      [&] { options_.config["ortolan.cpu.fp32_precision"] = "exact"; },
      [&] { options_.config["session.disable_quant_qdq"] = "1"; },
      [&] { options_.config["session.model_external_initializers_file_folder_path"] = folder_; },
      [&] { options_.config["session.set_denormal_as_zero"] = "1"; }};
  for (const auto& change : changes) {
    change();
    EXPECT_NE(warnings_of_new_session(true).find("other options"), std::string::npos);
    EXPECT_EQ(warnings_of_new_session(false), "");
  }
}

TEST_F(PreparedModelTest, IsMadeAnewWhereItIsDamaged) {
  expected_ = result();
  const std::string whole = bytes_of(prepared());
  for (size_t bytes : {size_t{0}, size_t{7}, kHeadBytes, whole.size() / 2, whole.size() - 1}) {
    write_bytes(prepared(), whole.substr(0, bytes));
    EXPECT_NE(warnings_of_new_session(true).find("damaged"), std::string::npos) << bytes;
  }
  for (size_t at : {size_t{0}, size_t{16}, kTableAt, size_t{32}, kTableHash, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_bytes(prepared(), damaged);
    EXPECT_NE(warnings_of_new_session(true).find("prepared anew"), std::string::npos) << at;
  }
  write_bytes(prepared(), whole + "x");
  EXPECT_NE(warnings_of_new_session(true).find("damaged"), std::string::npos);
}

TEST_F(PreparedModelTest, BlocksAreCheckedOnRequest) {
  expected_ = result();
  std::string damaged = bytes_of(prepared());
  damaged[kHeadBytes + 100] ^= 1;  // of the weights
  write_bytes(prepared(), damaged);
  options_.config["ortolan.check_prepared_model"] = "1";
  EXPECT_NE(warnings_of_new_session(true).find("damaged"), std::string::npos);
  EXPECT_EQ(warnings_of_new_session(false), "");
}

TEST_F(PreparedModelTest, HasNothingOfTheCallers) {
  expected_ = result();
  Tensor weights(ElementType::kFloat, Shape{64, 48});
  std::ranges::fill(weights.mutable_span<float>(), 1.0f);
  options_.initializers["w"] = Value(weights);
  said_->take();
  session(model());
  EXPECT_NE(said_->take().find("has no effect: a prepared model cannot have weights from the caller"),
            std::string::npos);
  try {
    session(prepared());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error.text().find("make the session from the model itself"), std::string::npos) << error.text();
  }
}

TEST_F(PreparedModelTest, IsNeverWrittenOverTheModel) {
  const std::string before = bytes_of(model());
  options_.config["ortolan.prepared_model_path"] = folder_ / "." / "m.onnx";
  try {
    session(model());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("is a file of the model itself"), std::string::npos) << error.text();
  }
  EXPECT_EQ(bytes_of(model()), before);
}

// A file system's clock may not tell two writes apart.
TEST_F(PreparedModelTest, IsMadeAnewAfterAWriteThatLeavesSizeAndTime) {
  const auto time = fs::last_write_time(model());
  expected_ = 2 * result();
  write_model(2);
  fs::last_write_time(model(), time);
  EXPECT_NE(warnings_of_new_session(true).find("the model has changed"), std::string::npos);
}

TEST_F(PreparedModelTest, FailsWhereItCannotBeWritten) {
  options_.config["ortolan.prepared_model_path"] = folder_ / "missing" / "m.prepared";
  try {
    session(model());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("cannot write the prepared model"), std::string::npos) << error.text();
  }
}

TEST_F(PreparedModelTest, IsNoModelInMemory) {
  result();
  const std::string bytes = bytes_of(prepared());
  try {
    Session::from_bytes(environment(), std::as_bytes(std::span(bytes)), {}, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("only from its file"), std::string::npos) << error.text();
  }
}

// Whoever forges a file can make its hash right.
TEST_F(PreparedModelTest, ForgedTablesEndInASessionOrAnError) {
  result();
  options_.config.clear();
  const std::string whole = bytes_of(prepared());
  uint64_t table_at;
  std::memcpy(&table_at, whole.data() + kTableAt, sizeof table_at);
  std::mt19937 random(7);
  int sessions = 0, errors = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string forged = whole;
    for (int i = round % 3; i >= 0; --i) {
      forged[table_at + random() % (whole.size() - table_at)] =
          static_cast<char>(random() % 4 != 0 ? random() % 4 : random());
    }
    base::Digest digest;
    digest.add(std::string_view(forged).substr(table_at));
    const uint64_t hash = digest.value();
    std::memcpy(forged.data() + kTableHash, &hash, sizeof hash);
    write_bytes(prepared(), forged);
    try {
      result(*session(prepared()));
      ++sessions;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(sessions, 100);
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace ortolan::runtime
