// A hash of texts that files choose.
#pragma once

#include <cstddef>
#include <string_view>

namespace ortolan::base {

/** For hash tables of names from files: the hash depends on a number drawn once a process, so no file can hold names
    that all share one chain. Nothing may depend on the order in which such a table is walked. */
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const;
};

}  // namespace ortolan::base
