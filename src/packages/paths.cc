// Resolving paths, with links followed before anything is judged.
#include "packages/paths.h"

#include <algorithm>

#include "base/error.h"

namespace ortolan::packages {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::require;

constexpr std::string_view kAsset = "sha256:";
constexpr size_t kUriLength = kAsset.size() + 64;
constexpr const char* kMend = R"(; keep it within the package's folder, or set "layout" to "installed")";

/** The path without links and dots, as far as it exists, and without a '/' at its end. */
fs::path without_links(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(fs::absolute(path), error);
  require(!error, ErrorCode::kFail, "path '", path.native(), "' cannot be followed: ", error.message());
  return found.has_filename() ? found : found.parent_path();
}

bool is_beneath(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/** Throws unless the path, which is without links as far as it exists, is beneath the folder now and stays there:
    a link that leads nowhere may lead anywhere later. */
void check_beneath(const fs::path& path, const fs::path& folder, std::string_view named) {
  require(is_beneath(path, folder), ErrorCode::kFail, "path '", named, "' leads to '", path.native(), "', outside '",
          folder.native(), "'", kMend);
  for (fs::path part = path; part != folder; part = part.parent_path()) {
    require(!fs::is_symlink(fs::symlink_status(part)), ErrorCode::kFail, "path '", named,
            "' goes through a link that leads nowhere, '", part.native(), "'", kMend);
  }
}

/** Throws unless the text is relative and goes nowhere up. */
void check_relative(std::string_view named) {
  fs::path path(named);
  require(path.is_relative(), ErrorCode::kFail, "path '", named, "' is absolute", kMend);
  require(std::ranges::find(path, "..") == path.end(), ErrorCode::kFail, "path '", named, "' has '..'", kMend);
}

/** The place of `named` from `base`, beneath `limit` unless that is NULL. */
std::string resolve_from(const fs::path& base, std::string_view named, const fs::path* limit, bool must_exist) {
  if (limit != nullptr) check_relative(named);
  fs::path found = without_links(base / named);
  if (limit != nullptr) check_beneath(found, *limit, named);
  require(!must_exist || fs::exists(found), ErrorCode::kFail, "path '", named, "' leads to '", found.native(),
          "', where nothing is; add it, or correct the path");
  return found.native();
}

}  // namespace

bool names_asset(std::string_view path) {
  auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return path.starts_with(kAsset) && path.size() >= kUriLength &&
         std::ranges::all_of(path.substr(kAsset.size(), 64), is_digit) &&
         (path.size() == kUriLength || path[kUriLength] == '/');
}

Paths::Paths(const std::string& root) {
  std::error_code error;
  require(fs::is_directory(root, error), ErrorCode::kFail, "'", root, "' is no folder; name the folder of a package");
  root_ = without_links(root);
}

void Paths::place_asset(const std::string& uri, std::string_view path) {
  require(names_asset(uri) && uri.size() == kUriLength, ErrorCode::kFail, "'", uri,
          "' is no name of a shared asset; write 'sha256:' and 64 lower-case hexadecimal digits");
  assets_[uri] = resolve({}, path, false);
}

std::string Paths::resolve(const std::string& base, std::string_view path, bool must_exist) const {
  require(!path.empty(), ErrorCode::kFail, "a path is empty; name a file or a folder");
  require(path.find('\0') == path.npos, ErrorCode::kFail, "a path holds the character 0; leave it out");
  if (names_asset(path)) return resolve_in_asset(path, must_exist);
  return resolve_from(base.empty() ? root_ : fs::path(base), path, portable_ ? &root_ : nullptr, must_exist);
}

std::string Paths::resolve_in_asset(std::string_view path, bool must_exist) const {
  std::string_view uri = path.substr(0, kUriLength), rest = path.substr(std::min(path.size(), kUriLength + 1));
  auto placed = assets_.find(uri);
  std::string usual = "shared_assets/sha256-" + std::string(uri.substr(kAsset.size()));
  std::string folder =
      placed != assets_.end() ? placed->second : resolve_from(root_, usual, portable_ ? &root_ : nullptr, false);
  require(fs::is_directory(folder), ErrorCode::kFail, "shared asset '", uri, "' is not in the package: '", folder,
          "' is no folder; add it, or name its folder in shared_assets");
  fs::path limit(folder);
  return rest.empty() ? folder : resolve_from(limit, rest, &limit, must_exist);
}

}  // namespace ortolan::packages
