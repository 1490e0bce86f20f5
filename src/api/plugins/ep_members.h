// What plugins fill: reading members only where their version has them, and turning what they report into errors.
#pragma once

#include <string_view>

#include "api/status.h"
#include "api/tables/slots.h"
#include "base/error.h"

namespace ortolan::api {

/** The version of a plugin's struct. No release before 23 runs plugins, so lesser numbers (and ones that no release
    will have) count as 23: what such plugins do not offer is NULL, as their structs are zero at first. Later versions
    than ours are fine: members are only added. */
inline uint32_t version_of(uint32_t claimed) {
  constexpr uint32_t kFirst = 23, kAbsurd = 1000;
  return claimed < kFirst || claimed > kAbsurd ? kFirst : claimed;
}

/** A member of a plugin's struct; NULL where the struct is of a version before `since`, and so may be shorter. */
template <class Struct, class Member>
Member member_if(const Struct& theirs, Member Struct::*member, uint32_t since) {
  return version_of(theirs.ort_version_supported) >= since ? theirs.*member : nullptr;
}

/** A status of a plugin that is not NULL, as an Error that says which provider's function failed. A status of code
    ORT_OK is success. */
[[noreturn]] void throw_plugin_status(OrtStatus* status, std::string_view provider, const char* function);
inline void check_plugin(OrtStatus* status, std::string_view provider, const char* function) {
  if (status != nullptr) [[unlikely]] {
    if (GetErrorCode(status) == ORT_OK) return ReleaseStatus(status);
    throw_plugin_status(status, provider, function);
  }
}

/** For members that every plugin must fill. */
template <class Member>
Member require_member(Member member, std::string_view provider, const char* name) {
  base::require(member != nullptr, base::ErrorCode::kEpFail, "execution provider ", provider, ": ", name,
                " is NULL, where there must be a function");
  return member;
}

/** For what a plugin must give with success. */
template <class T>
T& require_made(T* made, std::string_view provider, const char* function) {
  base::require(made != nullptr, base::ErrorCode::kEpFail, "execution provider ", provider, ": ", function,
                " succeeded but gave NULL");
  return *made;
}

}  // namespace ortolan::api
