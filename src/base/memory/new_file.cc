// Files written beside their final place, then moved there.
#include "base/memory/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace ortolan::base {
namespace {

/** No two of this machine's drafts share a name. */
std::string draft_of(const std::string& path) {
  static std::atomic<unsigned> drafts = 0;
  return join(path, ".", getpid(), ".", ++drafts, ".part");
}

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)), draft_(draft_of(path_)) {
  fd_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  require(fd_ >= 0, ErrorCode::kFail, "cannot create '", draft_, "': ", std::strerror(errno));
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(draft_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    require(put > 0, ErrorCode::kFail, "cannot write '", draft_, "': ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
}

void NewFile::commit() {
  int closed = ::close(fd_);
  fd_ = -1;
  if (closed == 0 && std::rename(draft_.c_str(), path_.c_str()) == 0) return;
  std::string reason = std::strerror(errno);
  ::unlink(draft_.c_str());
  fail(ErrorCode::kFail, "cannot write '", path_, "': ", reason);
}

}  // namespace ortolan::base
