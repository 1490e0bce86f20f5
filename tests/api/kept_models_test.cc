// Compiled models that sessions keep for later ones.
#include "compile_fixture.h"

namespace {

namespace fs = std::filesystem;

class KeptModelsTest : public ContextPluginTest {
 protected:
  std::string kept_folder() const { return path("kept/models"); }
  /** A session of the file that keeps its compiled model. With `compiled` it may not compile. */
  OrtStatus* load(Session& session, bool compiled, const char* info = "") {
    SessionOptions options = make_options(info);
    EXPECT_OK(api().AddSessionConfigEntry(options, "ortolan.compiled_model_folder", kept_folder().c_str()));
    EXPECT_OK(api().AddSessionConfigEntry(options, "session.disable_model_compile", compiled ? "1" : "0"));
    for (const auto& [key, value] : entries_) {
      EXPECT_OK(api().AddSessionConfigEntry(options, key.c_str(), value.c_str()));
    }
    return api().CreateSession(env_, path("m.onnx").c_str(), options, session.out());
  }
  void expect_session(bool compiled, const char* info = "") {
    Session session;
    ASSERT_OK(load(session, compiled, info));
    expect_results(session);
  }
  void expect_nothing_kept() {
    Session session;
    EXPECT_REFUSED(load(session, true), ORT_MODEL_REQUIRES_COMPILATION, "session.disable_model_compile");
  }
  std::vector<fs::path> kept() const { return {fs::directory_iterator(kept_folder()), fs::directory_iterator()}; }
  std::map<std::string, std::string> entries_;
};

TEST_F(KeptModelsTest, ALaterSessionCompilesNothing) {
  expect_nothing_kept();
  expect_session(false);
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_TRUE(kept()[0].filename().string().starts_with("m_"));
  expect_session(true);
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(KeptModelsTest, AnotherFileOrOtherOptionsOfProvidersAreCompiled) {
  expect_session(false);
  entries_["ep.contextexecutionprovider.speed"] = "2";
  expect_nothing_kept();
  expect_session(false);
  entries_["session.something_else"] = "1";
  expect_session(true);
  EXPECT_EQ(kept().size(), 2u);
  std::ofstream(path("m.onnx"), std::ios::binary | std::ios::app) << std::string("\x32\x00", 2);  // doc_string: ""
  expect_nothing_kept();
}

TEST_F(KeptModelsTest, WhatCannotBeUsedIsCompiledAnew) {
  expect_session(false);
  std::ofstream(kept()[0], std::ios::binary) << "damaged";
  expect_session(false);
  expect_session(true);
  fs::remove(kept()[0]);
  expect_session(false, "broken");
  expect_session(false);
  expect_session(true);
}

TEST_F(KeptModelsTest, AFolderThatCannotBeWrittenFailsTheSession) {
  std::ofstream(path("kept")) << "no folder";
  Session session;
  EXPECT_REFUSED(load(session, false), ORT_FAIL, "cannot save model");
}

}  // namespace
