// Functions that stand in for members of the plugin structs, each failing in one way.
#pragma once

#include <cstdlib>
#include <tuple>
#include <type_traits>

#include "onnxruntime_c_api.h"

namespace ortolan::faulty {

/** The function table of the runtime, once it is known. */
extern const OrtApi* api;

inline OrtStatus* injected() { return api->CreateStatus(ORT_FAIL, "injected fault"); }

template <class Member>
struct MemberTraits;
template <class Struct, class Result, class... Arguments>
struct MemberTraits<Result (*Struct::*)(Arguments...)> {
  using Owner = Struct;
  /** Returns a status. */
  static Result status(Arguments...) {
    if constexpr (std::is_same_v<Result, OrtStatus*>) return injected();
  }
  /** Success, zero or NULL, and nothing written. */
  static Result nothing(Arguments...) { return Result(); }
  /** Success and NULL where an object should come out. */
  static Result null(Arguments... arguments) {
    if constexpr (sizeof...(Arguments) > 0) {
      auto last = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
      if constexpr (std::is_pointer_v<std::remove_pointer_t<decltype(last)>>) *last = nullptr;
    }
    return Result();
  }
};

template <auto kMember>
using OwnerOf = typename MemberTraits<decltype(kMember)>::Owner;

template <auto kMember>
void give_status(OwnerOf<kMember>& object) {
  object.*kMember = MemberTraits<decltype(kMember)>::status;
}
template <auto kMember>
void do_nothing(OwnerOf<kMember>& object) {
  object.*kMember = MemberTraits<decltype(kMember)>::nothing;
}
template <auto kMember>
void give_null(OwnerOf<kMember>& object) {
  object.*kMember = MemberTraits<decltype(kMember)>::null;
}
template <auto kMember>
void leave_out(OwnerOf<kMember>& object) {
  object.*kMember = nullptr;
}
template <class Struct, uint32_t kVersion>
void claim_version(Struct& object) {
  if constexpr (std::is_same_v<Struct, OrtAllocator>) {
    object.version = kVersion;
  } else {
    object.ort_version_supported = kVersion;
  }
}

/** One thing that goes wrong with objects of a kind. */
template <class Struct>
struct Fault {
  const char* name;
  void (*install)(Struct& object);
};

}  // namespace ortolan::faulty
