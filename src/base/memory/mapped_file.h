// A regular file mapped into memory, read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ortolan::base {

/** By what a file is known to be as it was. */
struct FileStamp {
  uint64_t bytes = 0;
  int64_t modified = 0;  // nanoseconds since 1970; 0: not known
};

/** The bytes stay valid while the object lives; they are the file's, so nobody may truncate it meanwhile. */
class MappedFile {
 public:
  /** Throws kNoSuchFile when there is no such file, kFail when it cannot be read or is not a regular file. */
  static std::shared_ptr<MappedFile> open(const std::string& path);
  /** Takes the open descriptor `fd` over, also when it throws; `path` is for messages. */
  static std::shared_ptr<MappedFile> adopt(int fd, const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  /** Of the mapped file, whatever has taken its path meanwhile. The time of a file that was written in the last two
      seconds counts as not known: another write may leave it as it is. */
  FileStamp stamp() const;
  bool contains(const void* position) const { return position >= data_ && position < data_ + size_; }
  /** Copies `part` of bytes() to `to` by reading the file, so that the mapping's pages stay untouched. */
  void read(std::span<const std::byte> part, void* to) const;
  /** Lets the system drop the pages wholly inside `part`; they are read again from the file when used. */
  void release(std::span<const std::byte> part) const noexcept;

 private:
  MappedFile(int fd, std::string path) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ortolan::base
