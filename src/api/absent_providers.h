// Execution providers that clients know by name, and what to say where one is not on the machine.
#pragma once

#include <string_view>

namespace ortolan::api {

/** Throws: the provider, by its short name as in OrtSessionOptionsAppendExecutionProvider_<name>, is not here. */
[[noreturn]] void fail_absent_provider(std::string_view name);

}  // namespace ortolan::api
