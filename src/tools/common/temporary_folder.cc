// A folder for files that nobody needs later.
#include "temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "error.h"

namespace ortolan::tools {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "ortolan-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("cannot make the folder ", name, ": ", std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ortolan::tools
