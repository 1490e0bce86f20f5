// Execution providers that clients know by name, and what to say where one is not on the machine.
#pragma once

#include <string_view>

namespace ortolan::api {

/** Throws: the provider, by its short name as in OrtSessionOptionsAppendExecutionProvider_<name>, is not here.
   `else_do` is what may be done instead, besides leaving it out. */
[[noreturn]] void fail_absent_provider(std::string_view name, std::string_view else_do = {});

}  // namespace ortolan::api
