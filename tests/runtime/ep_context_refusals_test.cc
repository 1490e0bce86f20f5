// Compiled models, and compiling, refused when something in them is wrong.
#include "runtime/session/ep_context.h"

#include <fstream>
#include <tuple>

#include "../thrown_text.h"
#include "ep_context_fixture.h"
#include "onnx/reader.h"

namespace ortolan::runtime {
namespace {

TEST_F(EpContextTest, ProviderMustGiveOneEpContextNode) {
  settings_->without_node = true;
  std::string text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("gave no EPContext node"), std::string::npos) << text;
  settings_->without_node = false;
  settings_->other_node = true;
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("something else than one EPContext node"), std::string::npos) << text;
  settings_->other_node = false;
  settings_->renamed = "y";
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("whose input 'elsewhere' is no value of the graph"), std::string::npos) << text;
  settings_->renamed = "z";
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("does not make the group's output 'z'"), std::string::npos) << text;
}

TEST_F(EpContextTest, JudgesCompatibility) {
  settings_->info = "made by hand";
  std::string bytes = compiled();
  settings_->judgement = Compatibility::kUnsupported;
  std::string text = failure(ErrorCode::kFail, [&] { session(bytes); });
  EXPECT_NE(text.find("'made by hand'"), std::string::npos) << text;
  settings_->judgement = Compatibility::kPreferRecompilation;
  expect_results(*session(bytes));
  options_.config["session.fail_on_suboptimal_compiled_model"] = "1";
  text = failure(ErrorCode::kFail, [&] { session(bytes); });
  EXPECT_NE(text.find("below its best"), std::string::npos) << text;
}

TEST_F(EpContextTest, CompilingCanBeForbidden) {
  std::string bytes = compiled();
  options_.config["session.disable_model_compile"] = "1";
  expect_results(*session(bytes));
  std::string text = failure(ErrorCode::kModelRequiresCompilation,
                             [&] { Session::from_file(environment(), path("m.onnx"), options_); });
  EXPECT_NE(text.find("would have to compile node"), std::string::npos) << text;
}

TEST_F(EpContextTest, SaysWhichProviderIsMissing) {
  std::string model = write_context("data.bin");
  std::string text = failure(ErrorCode::kNotImplemented, [&] { Session::from_file(environment(), model, options_); });
  EXPECT_NE(text.find("execution provider 'ElsewhereExecutionProvider' compiled; register that provider"),
            std::string::npos)
      << text;
}

TEST_F(EpContextTest, FilesStayInTheModelsFolder) {
  fs::create_directory(path("sub"));
  std::ofstream(path("secret.bin")) << "secret";
  fs::create_directory(path("inner"));
  fs::create_symlink(path("secret.bin"), path("inner/link.bin"));
  fs::create_symlink(path("sub"), path("inner/way"));
  for (const char* file : {"../secret.bin", "a/../../secret.bin", "/etc/passwd", "link.bin", "way/data.bin"}) {
    std::string model = write_context(file, "inner/c.onnx");
    std::string text = failure(ErrorCode::kInvalidGraph, [&] { Session::from_file(environment(), model, options_); });
    EXPECT_NE(text.find("node 'part' (EPContext): ep_cache_context"), std::string::npos) << text;
  }
  std::ofstream(path("inner/data.bin")) << "data";
  fs::create_symlink("data.bin", path("inner/near.bin"));
  for (const char* file : {"data.bin", "sub/data.bin", "./data.bin", "near.bin"}) {
    std::string model = write_context(file, "inner/c.onnx");
    std::string text = failure(ErrorCode::kNotImplemented, [&] { Session::from_file(environment(), model, options_); });
    EXPECT_NE(text.find("it holds what execution provider 'ElsewhereExecutionProvider' compiled"), std::string::npos)
        << text;
  }
}

TEST_F(EpContextTest, AttributesOfTheWrongKind) {
  const AttributeValue text(std::string("..")), whole(int64_t{0}), real(2.f);
  const std::tuple<const char*, AttributeValue, const char*> wrong[] = {
      {"embed_mode", text, "is a string, but must be an int"},
      {"embed_mode", real, "is a float, but must be an int"},
      {"ep_cache_context", whole, "is an int, but must be a string"},
      {"ep_cache_context", real, "is a float, but must be a string"},
      {"source", whole, "is an int, but must be a string"},
      {"source", real, "is a float, but must be a string"}};
  for (const auto& [name, value, part] : wrong) {
    std::unique_ptr<Model> model = onnx::read_model_file(write_context("data.bin"));
    model->graph->nodes()[0]->set_attribute(name, value);
    EXPECT_TRUE(test::throws(join("attribute '", name, "' ", part),
                             [&] { Session::from_model(environment(), std::move(model), options_); }));
  }
}

TEST_F(EpContextTest, ModelMustStateTheTypesOfOutputs) {
  std::string model = write_context("data.bin", "c.onnx", false);
  std::string text = failure(ErrorCode::kInvalidGraph, [&] { Session::from_file(environment(), model, options_); });
  EXPECT_NE(text.find("does not state the type of output 'z'"), std::string::npos) << text;
}

TEST_F(EpContextTest, StatedShapesMustBeWhatTheProviderMakes) {
  settings_->grown = true;
  std::unique_ptr<Model> model = source(SymbolicShape(Shape{2, 2}));
  auto made = Session::from_model(environment(), std::move(model), options_);
  Value value(Tensor(ElementType::kFloat, Shape{2, 2}));
  const Value* values[] = {&value};
  const char *in[] = {"x"}, *out[] = {"o"};
  std::string text = failure(ErrorCode::kRuntimeException, [&] {
    for (int i = 0; i < 3; ++i) {  // shapes are planned once they come again
      Value result;
      made->run(nullptr, in, values, out, std::span(&result, 1));
    }
  });
  EXPECT_NE(text.find("float[2,2], but the kernel makes float[3,2]"), std::string::npos) << text;
}

}  // namespace
}  // namespace ortolan::runtime
