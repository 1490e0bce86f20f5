// Claims of providers on devices: impossible ones are refused alone, failures end in an error or a fallback.
#include <algorithm>
#include <cmath>
#include <map>

#include "devices_fixture.h"

namespace ortolan::runtime {
namespace {

TEST(Devices, GroupsThatCannotBeAreDroppedAlone) {
  struct Case {
    std::map<std::string, int> groups;
    const char* why;
    size_t granted;
  };
  const Case kCases[] = {
      {{{"m", 0}, {"p", 0}, {"u", 1}}, "runs through node 't'", 1},
      {{{"m", 0}, {"y", 0}}, "not connected", 0},
      {{{"s", 0}, {"t", 0}, {"p", 1}, {"y", 1}}, nullptr, 4},
  };
  for (const Case& each : kCases) {
    auto fake = settings(/*compile=*/true);
    fake->group_of = [&](const Node& node) {
      auto found = each.groups.find(node.name);
      return found == each.groups.end() ? -1 : found->second;
    };
    Fakes fakes;
    fakes.add(fake);
    auto session = fakes.session();
    expect_right(*session, 2);
    auto on_fake = [&](const NodeAssignment& node) { return node.provider == fake->type; };
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(session->assignments(), on_fake)), each.granted);
    if (each.why != nullptr) {
      EXPECT_TRUE(fakes.messages->has(each.why)) << fakes.messages->all();
    }
  }
}

/** Two chains a1 -> b1 and b2 -> a2 side by side: groups {a1, a2} and {b1, b2} share inputs and would need each other.
 */
TEST(Devices, GroupsThatNeedEachOtherAreNotBothGranted) {
  Builder build;
  ValueInfo* x = build.input("x", Shape{2, kWidth});
  ValueInfo* a1 = build.node("Tanh", {x}, "a1");
  ValueInfo* b2 = build.node("Tanh", {x}, "b2");
  ValueInfo* b1 = build.node("Mul", {a1, x}, "b1");
  ValueInfo* a2 = build.node("Mul", {b2, x}, "a2");
  build.graph().mark_output(build.node("Add", {b1, a2}, "y"));
  auto fake = settings(/*compile=*/true);
  fake->group_of = [](const Node& node) { return node.name[0] == 'a' ? 0 : node.name[0] == 'b' ? 1 : -1; };
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session(std::move(build.model));
  EXPECT_TRUE(fakes.messages->has("depend on itself")) << fakes.messages->all();
  auto y = run(*session, ramp(2), {"y"});
  double value = ramp(2).data<float>()[2];
  EXPECT_NEAR(y[0].tensor().data<float>()[2], 2 * std::tanh(value) * value, 1e-5);
}

TEST(Devices, SaysHowManyNodesFallBack) {
  auto fake = settings(false);
  fake->group_of = only({"m", "s", "t"});
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session();
  EXPECT_TRUE(fakes.messages->has("3 of 6 nodes run on CPUExecutionProvider")) << fakes.messages->all();
  EXPECT_TRUE(fakes.messages->has("the test does not want it")) << fakes.messages->all();
  fakes.options.config["session.disable_cpu_ep_fallback"] = "1";
  EXPECT_NE(fakes.error().find("forbids that"), std::string::npos);
  fake->group_of = [](const Node&) { return 0; };
  EXPECT_EQ(fakes.error(), "");
}

/** The provider may set the limit, and so may the session. */
void expect_small_islands_return(size_t providers_limit, const char* sessions_limit) {
  auto fake = settings(false);
  fake->group_of = only({"m", "s", "y"});
  fake->least_island = providers_limit;
  Fakes fakes;
  fakes.options.config["ortolan.min_island_nodes"] = sessions_limit;
  fakes.add(fake);
  auto session = fakes.session();
  expect_right(*session, 2);
  ASSERT_EQ(session->assignments().size(), 6u);
  for (const NodeAssignment& node : session->assignments()) {
    EXPECT_EQ(node.provider == fake->type, node.node_name == "m" || node.node_name == "s") << node.node_name;
    if (node.node_name == "y") {
      ASSERT_FALSE(node.declined.empty());
      EXPECT_NE(node.declined[0].second.find("fewer than the 2"), std::string::npos) << node.declined[0].second;
    }
  }
}

TEST(Devices, ReturnsIslandsThatAreTooSmall) {
  expect_small_islands_return(2, "1");
  expect_small_islands_return(1, "2");
}

TEST(Devices, TheLastProviderKeepsIslandsOfAnySize) {
  Fakes fakes;
  fakes.add(settings(false));
  fakes.options.config["ortolan.min_island_nodes"] = "100";
  auto session = fakes.session();
  ASSERT_EQ(session->assignments().size(), 6u);
  for (const NodeAssignment& node : session->assignments()) EXPECT_EQ(node.provider, "CPUExecutionProvider");
  expect_right(*session, 2);
}

TEST(Devices, FailuresEndInAnErrorOrAFallback) {
  auto error_at = [](const char* point, bool required = true) {
    auto fake = settings(/*compile=*/true);
    fake->fails_at = point;
    Fakes fakes;
    fakes.add(fake, required);
    return fakes.error();
  };
  EXPECT_NE(error_at("make").find("the fake fails at make"), std::string::npos);
  EXPECT_EQ(error_at("make", /*required=*/false), "");
  EXPECT_EQ(error_at("get_capability"), "");
  EXPECT_NE(error_at("compile").find("the fake fails at compile"), std::string::npos);
  EXPECT_NE(error_at("nothing compiled").find("made nothing of group"), std::string::npos);
}

TEST(Devices, RunHooksMayFail) {
  for (const char* point : {"run start", "run end"}) {
    auto fake = settings(false, true);
    Fakes fakes;
    fakes.add(fake);
    auto session = fakes.session();
    fake->fails_at = point;
    EXPECT_TRUE(test::throws(std::string("the fake fails at ") + point, [&] { run(*session, ramp(2)); }));
    fake->fails_at = "";
    expect_right(*session, 2);
  }
}

TEST(Devices, ATypeComesOnce) {
  Fakes fakes;
  fakes.add(settings(false));
  fakes.add(settings(true));
  EXPECT_NE(fakes.error().find("asked for twice"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::runtime
