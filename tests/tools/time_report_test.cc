// The report on times from profiles written here: of our library's form, and of one that tells no kernels.
#include "ortolan/time_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "../thrown_text.h"
#include "common/error.h"
#include "common/files.h"

namespace ortolan::tools {
namespace {

constexpr const char* kRun = R"({"cat":"Session","tid":1,"dur":90,"ts":0,"ph":"X","name":"model_run","args":{}},)";

std::string node(const std::string& name, const std::string& type, int ts, int dur, const std::string& more = "") {
  return R"({"cat":"Node","pid":7,"tid":1,"dur":)" + std::to_string(dur) + ",\"ts\":" + std::to_string(ts) +
         R"(,"ph":"X","name":")" + name + R"(_kernel_time","args":{"op_name":")" + type +
         R"(","provider":"CPUExecutionProvider","node_index":"1")" + more + "}},";
}

TimeReport report_of(const std::string& events, int skipped = 0) {
  std::string path = ::testing::TempDir() + "time_report_test.json";
  write_file(path, "[" + events + R"({"cat":"Session","tid":1,"dur":1,"ts":0,"name":"end","args":{}}])");
  TimeReport report = read_profile(path, skipped);
  std::filesystem::remove(path);
  return report;
}

TEST(TimeReport, TakesTheMedianOfRuns) {
  std::string events = node("warm", "Add", 0, 1000) + kRun;
  for (int us : {5, 90, 7}) events += node("n", "Add", 10, us) + kRun;
  TimeReport report = report_of(events, 1);
  EXPECT_EQ(report.runs, 3);
  ASSERT_EQ(report.nodes.size(), 1u);
  EXPECT_EQ(report.nodes[0].time.us, 7);
  EXPECT_EQ(report.nodes[0].time.calls, 1);
  EXPECT_EQ(report.nodes[0].provider, "CPU");
}

TEST(TimeReport, PrefersNanosecondsAndTellsWork) {
  std::string more = R"(,"kernel":"add","isa":"avx2","flops":"12000","bytes":"24000","duration_ns":"1500")";
  TimeReport report = report_of(node("n", "Add", 0, 1, more) + kRun);
  const RunTime& time = report.nodes.at(0).time;
  EXPECT_TRUE(report.explains);
  EXPECT_EQ(time.us, 1.5);
  EXPECT_EQ(time.gigaflops(), 8);
  EXPECT_EQ(time.gigabytes(), 16);
  EXPECT_TRUE(notes(report).empty());
  EXPECT_NE(time_text(report, 0).find("GFLOP/s"), std::string::npos);
}

TEST(TimeReport, SaysWhatAnotherLibraryDoesNotTell) {
  std::string sizes = R"(,"parameter_size":"10","activation_size":"20","output_size":"970")";
  TimeReport report = report_of(node("n", "Add", 0, 1, sizes) + kRun);
  report.library = "ONNX Runtime 1.30.0";
  EXPECT_FALSE(report.explains);
  EXPECT_EQ(report.nodes.at(0).time.gigabytes(), 1);
  std::string text = time_text(report, 0);
  EXPECT_NE(text.find("The profile of ONNX Runtime 1.30.0 names no kernels"), std::string::npos) << text;
  EXPECT_EQ(text.find("GFLOP/s"), std::string::npos) << text;
  EXPECT_NE(time_page(report).find("names no kernels"), std::string::npos);
}

TEST(TimeReport, GivesInnerNodesTheirOwnTime) {
  std::string inner = node("step", "Add", 10, 20) + node("step", "Add", 40, 20) + node("deep", "If", 5, 70);
  TimeReport report = report_of(node("before", "Add", 0, 5) + inner + node("loop", "Loop", 5, 80) + kRun);
  std::map<std::string, double> us;
  for (const NodeTime& n : report.nodes) us[n.node] = n.time.us;
  EXPECT_EQ(us, (std::map<std::string, double>{{"before", 5}, {"step", 40}, {"deep", 30}, {"loop", 10}}));
  EXPECT_EQ(report.total().us, 85);
  EXPECT_EQ(report.nodes[0].node, "before");
}

TEST(TimeReport, SumsByOperatorTheLongestFirst) {
  TimeReport report = report_of(node("a", "Add", 0, 3) + node("m", "Mul", 5, 4) + node("b", "Add", 9, 2) + kRun);
  auto sums = report.operators();
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].type, "Add");
  EXPECT_EQ(sums[0].nodes, 2);
  EXPECT_EQ(sums[0].time.us, 5);
  EXPECT_EQ(report.by_time().at(0)->node, "m");
}

TEST(TimeReport, BearsStrangeProfiles) {
  EXPECT_EQ(report_of("").nodes.size(), 0u);
  EXPECT_EQ(report_of(R"({"name":3},{"cat":"Node","name":"x_kernel_time"},)").runs, 0);
  EXPECT_NE(time_picture(report_of("")).find("</svg>"), std::string::npos);
  std::string path = ::testing::TempDir() + "time_report_test_broken.json";
  write_file(path, "[{\"cat\":");
  EXPECT_TRUE(test::throws<ToolError>("profile cannot be read", [&] { read_profile(path, 0); }));
  EXPECT_TRUE(test::throws<ToolError>("No such file", [&] { read_profile(path + ".missing", 0); }));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ortolan::tools
