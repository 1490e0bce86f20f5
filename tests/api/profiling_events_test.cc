// Profiling events that plugins make.
#include "ep_test_support.h"

namespace {

OrtStatus* create(OrtProfilingEventCategory category, const char* name, const char* const* keys,
                  const char* const* values, size_t count, OrtProfilingEvent** out) {
  return ep_api().CreateProfilingEvent(category, 11, 12, name, -5, 7, keys, values, count, out);
}

TEST(ProfilingEvent, KeepsCopiesOfWhatItWasGiven) {
  std::string key = "kernel", value = "add";
  const char* keys[] = {key.c_str(), "grid"};
  const char* values[] = {value.c_str(), ""};
  ProfilingEvent event;
  EXPECT_OK(create(OrtProfilingEventCategory_KERNEL, "name", keys, values, 2, event.out()));
  key[0] = value[0] = '?';
  OrtProfilingEventCategory category{};
  EXPECT_OK(ep_api().ProfilingEvent_GetCategory(event, &category));
  EXPECT_EQ(category, OrtProfilingEventCategory_KERNEL);
  const char* text = nullptr;
  EXPECT_OK(ep_api().ProfilingEvent_GetName(event, &text));
  EXPECT_STREQ(text, "name");
  int64_t time = 0;
  EXPECT_OK(ep_api().ProfilingEvent_GetTimestampUs(event, &time));
  EXPECT_EQ(time, -5);
  EXPECT_OK(ep_api().ProfilingEvent_GetDurationUs(event, &time));
  EXPECT_EQ(time, 7);
  EXPECT_OK(ep_api().ProfilingEvent_GetArgValue(event, "kernel", &text));
  EXPECT_STREQ(text, "add");
  EXPECT_OK(ep_api().ProfilingEvent_GetArgValue(event, "grid", &text));
  EXPECT_STREQ(text, "");
  EXPECT_OK(ep_api().ProfilingEvent_GetArgValue(event, "block", &text));
  EXPECT_EQ(text, nullptr);
}

TEST(ProfilingEvent, WrongUsesAreRefused) {
  ProfilingEvent event;
  const char* two[] = {"a", nullptr};
  const char* good[] = {"a", "b"};
  EXPECT_REFUSED(create(static_cast<OrtProfilingEventCategory>(4), "n", nullptr, nullptr, 0, event.out()),
                 ORT_INVALID_ARGUMENT, "4");
  EXPECT_REFUSED(create(OrtProfilingEventCategory_NODE, nullptr, nullptr, nullptr, 0, event.out()),
                 ORT_INVALID_ARGUMENT, "name");
  EXPECT_REFUSED(create(OrtProfilingEventCategory_NODE, "n", nullptr, good, 2, event.out()), ORT_INVALID_ARGUMENT,
                 "arg_");
  EXPECT_REFUSED(create(OrtProfilingEventCategory_NODE, "n", good, two, 2, event.out()), ORT_INVALID_ARGUMENT, "1");
  EXPECT_REFUSED(create(OrtProfilingEventCategory_NODE, "n", two, good, 2, event.out()), ORT_INVALID_ARGUMENT, "1");
  EXPECT_OK(create(OrtProfilingEventCategory_NODE, "n", nullptr, nullptr, 0, event.out()));
  const char* text = nullptr;
  EXPECT_REFUSED(ep_api().ProfilingEvent_GetArgValue(event, nullptr, &text), ORT_INVALID_ARGUMENT, "ey");
  EXPECT_REFUSED(ep_api().ProfilingEventsContainer_AddEvents(nullptr, nullptr, 0), ORT_INVALID_ARGUMENT, "ontainer");
}

}  // namespace
