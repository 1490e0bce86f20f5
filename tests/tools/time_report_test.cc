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

std::string run(int ts) {
  return R"({"cat":"Session","tid":1,"dur":90,"ts":)" + std::to_string(ts) + R"(,"name":"model_run","args":{}},)";
}

/** What a device did for a node. */
std::string kernel(const std::string& name, const std::string& node, const std::string& type, int ts, double us,
                   const std::string& provider = "FakeExecutionProvider") {
  return R"({"cat":"Kernel","pid":7,"tid":9,"dur":0,"ts":)" + std::to_string(ts) + R"(,"ph":"X","name":")" + name +
         R"(","args":{"provider":")" + provider + R"(","duration_ns":")" + std::to_string(int(us * 1000)) +
         R"(","node":")" + node + R"(","op_name":")" + type + "\"}},";
}

/** A node of a provider that is not the CPU's. */
std::string device_node(const std::string& provider, int ts, int dur) {
  return R"({"cat":"Node","tid":1,"dur":)" + std::to_string(dur) + ",\"ts\":" + std::to_string(ts) +
         R"(,"name":"group_kernel_time","args":{"op_name":"Fused","provider":")" + provider + "\"}},";
}

/** Three runs after one to skip, with three launches each: two kernels for a MatMul, one of them for an Add too. */
std::string profile_with_device() {
  std::string nodes, kernels = kernel("pack", "m", "MatMul", 10, 900);
  for (int start : {0, 1000, 2000, 3000}) nodes += device_node("FakeExecutionProvider", start + 5, 50) + run(start);
  for (int start : {1000, 2000, 3000}) {
    const double slow = start == 2000 ? 40 : 0;
    kernels += kernel("gemm", "m", "MatMul", start + 20, 6 + slow) + kernel("copy", "m", "MatMul", start + 30, 1.5) +
               kernel("gemm", "a", "Add", start + 95, 2.5);  // when the call is over
  }
  return nodes + kernels;
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

TEST(TimeReport, PutsKernelsToTheirRuns) {
  TimeReport report = report_of(profile_with_device(), 1);
  const DeviceTimes& device = report.device;
  ASSERT_EQ(device.kernels.size(), 3u) << "what ran before the first run that counts is of none";
  EXPECT_EQ(device.kernels[0].kernel, "gemm");
  EXPECT_EQ(device.kernels[0].node, "m");
  EXPECT_EQ(device.kernels[0].type, "MatMul");
  EXPECT_EQ(device.kernels[0].provider, "Fake");
  EXPECT_EQ(device.kernels[0].time.us, 6);
  EXPECT_EQ(device.kernels[0].time.calls, 1);
  EXPECT_EQ(device.us, 10);
  EXPECT_EQ(device.total().us, 10);
  EXPECT_EQ(device.share(device.kernels[2].time), 0.25);
  EXPECT_EQ(report.nodes.at(0).time.us, 50) << "the host's time is apart";
  EXPECT_EQ(report.total().us, 50);
}

TEST(TimeReport, SumsKernelsByOperatorAndKernel) {
  TimeReport report = report_of(profile_with_device(), 1);
  auto by_type = report.device.sums(&KernelTime::type), by_kernel = report.device.sums(&KernelTime::kernel);
  ASSERT_EQ(by_type.size(), 2u);
  EXPECT_EQ(by_type[0].name, "MatMul");
  EXPECT_EQ(by_type[0].time.us, 7.5);
  EXPECT_EQ(by_type[0].time.calls, 2);
  EXPECT_EQ(by_type[0].nodes, 1);
  ASSERT_EQ(by_kernel.size(), 2u);
  EXPECT_EQ(by_kernel[0].name, "gemm");
  EXPECT_EQ(by_kernel[0].time.us, 8.5);
  EXPECT_EQ(by_kernel[0].nodes, 2);
  Rows rows = kernel_rows(report, 1);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"m", "MatMul", "Fake", "gemm", "1", "6.0", "60.0 %"}));
  EXPECT_EQ(rows[2], (std::vector<std::string>{"2 other launches", "", "", "", "2", "4.0", "40.0 %"}));
  EXPECT_EQ(rows[3], (std::vector<std::string>{"total", "", "", "", "3", "10.0", "100.0 %"}));
}

TEST(TimeReport, TellsTheDeviceFromTheHost) {
  TimeReport report = report_of(profile_with_device(), 1);
  report.run_us = 100;
  for (const std::string& text : {time_text(report, 0), time_page(report), time_picture(report)}) {
    EXPECT_NE(text.find("On the host"), std::string::npos) << text;
    EXPECT_NE(text.find("On the device"), std::string::npos) << text;
    EXPECT_NE(text.find("the kernels of a run take 10.0 µs, 10.0 % of the run"), std::string::npos) << text;
    EXPECT_NE(text.find("the device's own"), std::string::npos) << text;
    EXPECT_EQ(text.find("of no kernels"), std::string::npos) << text;
  }
  EXPECT_NE(time_json(report).find("\"run_us\": 10.0"), std::string::npos) << time_json(report);
}

TEST(TimeReport, SaysWhichProviderToldOfNoKernel) {
  TimeReport report = report_of(device_node("Mute", 0, 9) + profile_with_device());
  EXPECT_EQ(report.device_providers(), (std::vector<std::string>{"Fake", "Mute"}));
  EXPECT_EQ(report.silent_providers(), (std::vector<std::string>{"Mute"}));
  EXPECT_NE(time_text(report, 0).find("Mute told the profile of no kernels"), std::string::npos);
  EXPECT_NE(time_json(report).find("\"Mute\"\n ]"), std::string::npos) << time_json(report);
  report = report_of(device_node("Mute", 0, 9) + run(0) + kernel("k", "", "", 1, 1, ""));
  EXPECT_TRUE(report.silent_providers().empty()) << "events without a provider may be anybody's";
}

TEST(TimeReport, HasOneClockWithoutADevice) {
  TimeReport report = report_of(node("n", "Add", 0, 3) + kRun);
  EXPECT_TRUE(report.silent_providers().empty());
  for (const std::string& text : {time_text(report, 0), time_page(report)}) {
    EXPECT_EQ(text.find("On the"), std::string::npos) << text;
    EXPECT_EQ(text.find("kernels of a run"), std::string::npos) << text;
  }
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
