// Reads every model of Debian's libonnx-testdata, where that is installed.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx/reader.h"

namespace ortolan::onnx {
namespace {

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data";

TEST(Testdata, EveryModelLoads) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is not installed";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".onnx") continue;
    ++count;
    try {
      auto model = read_model_file(entry.path().string());
      EXPECT_FALSE(model->graph->outputs.empty()) << entry.path();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 900);
}

}  // namespace
}  // namespace ortolan::onnx
