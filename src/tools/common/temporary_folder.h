// A folder for files that nobody needs later.
#pragma once

#include <filesystem>

namespace ortolan::tools {

// An empty folder, gone with all that is in it when this is.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ortolan::tools
