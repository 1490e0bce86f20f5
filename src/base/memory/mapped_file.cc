// Maps files with mmap.
#include "base/memory/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/memory/pages.h"

namespace ortolan::base {

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  require(fd >= 0 || (errno != ENOENT && errno != ENOTDIR), ErrorCode::kNoSuchFile, "the file '", path,
          "' does not exist; check the path");
  require(fd >= 0, ErrorCode::kFail, "the file '", path, "' cannot be opened: ", std::strerror(errno));
  return adopt(fd, path);
}

std::shared_ptr<MappedFile> MappedFile::adopt(int fd, const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile(fd, path));
  struct stat facts;
  require(fstat(fd, &facts) == 0, ErrorCode::kFail, "the file '", path, "' cannot be examined: ", std::strerror(errno));
  require(S_ISREG(facts.st_mode), ErrorCode::kFail, "'", path, "' is ",
          S_ISDIR(facts.st_mode) ? "a directory" : "special", ", not a regular file; give the path of a file");
  if (facts.st_size == 0) return file;
  auto size = static_cast<size_t>(facts.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  require(data != MAP_FAILED, ErrorCode::kFail, "the file '", path, "' of ", size,
          " bytes cannot be mapped: ", std::strerror(errno));
  file->data_ = static_cast<const std::byte*>(data);
  file->size_ = size;
  return file;
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
  ::close(fd_);
}

FileStamp MappedFile::stamp() const {
  constexpr int64_t kSecond = 1'000'000'000, kCoarsestTime = 2 * kSecond;
  struct stat facts;
  timespec now;
  if (fstat(fd_, &facts) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return {size_, 0};
  const int64_t modified = facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec;
  const bool is_settled = now.tv_sec * kSecond + now.tv_nsec - modified > kCoarsestTime;
  return {static_cast<uint64_t>(facts.st_size), is_settled ? modified : 0};
}

void MappedFile::read(std::span<const std::byte> part, void* to) const {
  auto* out = static_cast<std::byte*>(to);
  auto offset = part.data() - data_;
  size_t left = part.size();
  while (left > 0) {
    ssize_t got = pread(fd_, out, left, offset);
    if (got < 0 && errno == EINTR) continue;
    require(got > 0, ErrorCode::kFail, "the file '", path_, "' cannot be read at byte ", offset, ": ",
            got < 0 ? std::strerror(errno) : "it has become shorter");
    out += got;
    offset += got;
    left -= static_cast<size_t>(got);
  }
}

void MappedFile::release(std::span<const std::byte> part) const noexcept { give_back_pages(part.data(), part.size()); }

}  // namespace ortolan::base
