// JSON texts as trees, read without trusting them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ortolan::packages {

struct Json {
  enum class Kind { kNull, kBoolean, kNumber, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;                // of kText
  std::optional<int64_t> integer;  // of a kNumber that is one
  std::vector<Json> items;         // of kArray; the members of kObject, in the text's order
  std::vector<std::string> names;  // of the members

  bool is(Kind wanted) const { return kind == wanted; }
  /** The member of that name of an object; NULL for none. */
  const Json* find(std::string_view name) const;
};

/** Throws kFail, saying at which line and column, for what is no JSON, repeats a name in an object, or nests deeper
   than 200. */
Json parse_json(std::string_view text);

}  // namespace ortolan::packages
