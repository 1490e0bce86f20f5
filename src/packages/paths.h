// Where the paths lead that a model package names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ortolan::packages {

/** True for "sha256:", 64 lower-case hexadecimal digits, and nothing, or '/' and more. */
bool names_asset(std::string_view path);

/** Immutable once the assets are in: several threads may resolve. */
class Paths {
 public:
  /** Throws kFail unless `root` is a folder. */
  explicit Paths(const std::string& root);

  /** A portable package's paths stay beneath its folder; those of an installed one lead anywhere. */
  void set_portable(bool portable) { portable_ = portable; }
  /** Says where the asset of that URI ("sha256:HEX") is, in place of shared_assets/sha256-HEX. */
  void place_asset(const std::string& uri, std::string_view path);

  /** The package's folder, without links. */
  const std::string& root() const { return root_.native(); }
  /** The place without links and dots. A path that names an asset leads into that; any other starts at `base`, or,
     where that is empty, at the package's folder. Throws kFail where the rules forbid it, and where `must_exist` holds
     and nothing is there. */
  std::string resolve(const std::string& base, std::string_view path, bool must_exist) const;

 private:
  std::string resolve_in_asset(std::string_view path, bool must_exist) const;

  std::filesystem::path root_;
  bool portable_ = true;
  std::map<std::string, std::string, std::less<>> assets_;  // folders by URI
};

}  // namespace ortolan::packages
