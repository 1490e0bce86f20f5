// Every slot, called with NULL and zero for everything: a status or nothing comes back, never a crash.
#include "api_test_support.h"

namespace {

/** Calls the slot with value-initialised arguments. */
template <class Result, class... Args>
void call_with_nothing(const char* name, Result (*slot)(Args...)) {
  if constexpr (std::is_same_v<Result, OrtStatus*>) {
    if (OrtStatus* status = slot(Args{}...)) {
      EXPECT_STRNE(api().GetErrorMessage(status), "") << name;
      EXPECT_NE(api().GetErrorCode(status), ORT_OK) << name;
      api().ReleaseStatus(status);
    }
  } else {
    slot(Args{}...);
  }
}

template <class Result, class... Args>
void call_with_nothing(const char* name, Result (*slot)(Args...) noexcept) {
  call_with_nothing(name, static_cast<Result (*)(Args...)>(slot));
}

template <class Table>
const Table* table_of();
template <>
const OrtApi* table_of() {
  return &api();
}
template <>
const OrtModelEditorApi* table_of() {
  return api().GetModelEditorApi();
}
template <>
const OrtCompileApi* table_of() {
  return api().GetCompileApi();
}
template <>
const OrtInteropApi* table_of() {
  return api().GetInteropApi();
}
template <>
const OrtModelPackageApi* table_of() {
  return api().GetModelPackageApi();
}
template <>
const OrtEpApi* table_of() {
  return api().GetEpApi();
}

/** CreateStatus(ORT_OK, NULL) is a status of success by contract. */
bool is_exempt(const std::string& name) { return name == "CreateStatus"; }

TEST(NullArguments, NeverCrash) {
#define ORTOLAN_SLOT(table, name, function, slot, since) \
  if (!is_exempt(#name)) call_with_nothing(#name, table_of<table>()->name);
#include "api_slots.inc"
#undef ORTOLAN_SLOT
}

}  // namespace
