// External data: location entries, and files opened beneath a folder without following links.
#include "onnx/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace ortolan::onnx {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/** A descriptor closed at the end of its scope. */
struct ScopedFd {
  int fd;
  explicit ScopedFd(int fd) : fd(fd) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() {
    if (fd >= 0) ::close(fd);
  }
};

uint64_t parse_number(std::string_view key, std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc{} && end == text.data() + text.size() && value <= INT64_MAX, ErrorCode::kInvalidGraph,
          "external data: ", key, " '", text, "' must be a whole number of bytes from 0 to ", INT64_MAX);
  return value;
}

/** Throws unless `path` is relative, without empty, '.' or '..' parts that could lead elsewhere. */
void check_path(const std::string& path, std::string_view what) {
  require(!path.empty() && path.find('\0') == std::string::npos, ErrorCode::kInvalidGraph, what,
          ": the location is empty or holds a zero byte; name a file beside the model");
  require(path[0] != '/', ErrorCode::kInvalidGraph, what, ": the location '", path,
          "' is an absolute path; name a file in the model's folder");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    require(path.compare(begin, end - begin, "..") != 0, ErrorCode::kInvalidGraph, what, ": the location '", path,
            "' leads out of the model's folder; name a file in it");
    begin = end + 1;
  }
}

/** Opens `path` beneath `folder` component by component, refusing symbolic links. */
int open_by_parts(int folder, const std::string& path) {
  int at = dup(folder);
  for (size_t begin = 0; at >= 0 && begin < path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    ScopedFd parent(at);
    at = openat(at, part.c_str(), (end < path.size() ? O_PATH | O_DIRECTORY | O_CLOEXEC : kOpenFlags) | O_NOFOLLOW);
  }
  return at;
}

int open_beneath(int folder, const std::string& path) {
  open_how how{};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  auto fd = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return fd;
  return open_by_parts(folder, path);
}

/** The errors of open_beneath that mean a symbolic link on the way. */
bool link_on_the_way(int error) { return error == ELOOP || error == EXDEV; }

[[noreturn]] void fail_for_link(const std::string& path, std::string_view what) {
  fail(ErrorCode::kInvalidGraph, what, ": '", path,
       "' is a symbolic link or leads through one, which a model may not follow; put the file itself there");
}

}  // namespace

void check_beneath(const std::string& folder, const std::string& name, std::string_view what) {
  check_path(name, what);
  if (folder.empty()) return;
  ScopedFd at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.fd < 0) return;
  ScopedFd file(open_beneath(at.fd, name));
  require(file.fd >= 0 || errno == ENOENT, ErrorCode::kInvalidGraph, what, ": '", folder, "/", name,
          "' cannot be opened without following a symbolic link: ", std::strerror(errno),
          "; put the file itself into the model's folder");
}

void ExternalFiles::read_entry(Bytes entry, ExternalLocation& location) {
  std::string_view key, value;
  WireReader reader(entry, "StringStringEntryProto");
  while (reader.next()) {
    if (reader.number() == 1) key = reader.field().text();
    if (reader.number() == 2) value = reader.field().text();
  }
  if (key == "location") {
    require(location.file.empty(), ErrorCode::kInvalidGraph, "external data: 'location' is given twice");
    location.file = value;
  } else if (key == "offset") {
    location.offset = parse_number(key, value);
  } else if (key == "length") {
    location.length = static_cast<int64_t>(parse_number(key, value));
  }
}

std::pair<const Blob*, Bytes> ExternalFiles::find(const ExternalLocation& location, size_t size) {
  require(location.length < 0 || static_cast<uint64_t>(location.length) == size, ErrorCode::kInvalidGraph,
          "external data: its length in '", location.file, "' is ", location.length,
          " bytes, but its type and shape need ", size);
  const Blob& blob = open(location.file);
  require(location.offset <= blob.bytes.size() && size <= blob.bytes.size() - location.offset, ErrorCode::kInvalidGraph,
          "external data: bytes ", location.offset, " to ", location.offset, " + ", size, " are outside the file '",
          location.file, "' of ", blob.bytes.size(), " bytes; is the file complete and does it belong to this model?");
  return {&blob, blob.bytes.subspan(location.offset, size)};
}

const Blob& ExternalFiles::open(const std::string& name) {
  auto known = open_.find(name);
  if (known != open_.end()) return known->second;
  auto in_memory = options_.external_files.find(name);
  if (in_memory != options_.external_files.end()) {
    const OwnedBytes& held = in_memory->second;
    return open_.emplace(name, Blob{held.bytes, held.owner, nullptr, options_.copy_bytes}).first->second;
  }
  check_path(name, "external data");
  require(
      !folder_.empty(), ErrorCode::kInvalidGraph, "external data: '", name,
      "' cannot be found, as the model came from bytes; set session.model_external_initializers_file_folder_path or "
      "add the file in memory");
  ScopedFd folder(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  require(folder.fd >= 0, ErrorCode::kNoSuchFile, "external data: the folder '", folder_,
          "' cannot be opened: ", std::strerror(errno));
  int fd = open_beneath(folder.fd, name);
  std::string path = folder_ + "/" + name;
  if (fd < 0 && link_on_the_way(errno)) fail_for_link(path, "external data");
  require(fd >= 0 || errno != ENOENT, ErrorCode::kNoSuchFile, "external data: the file '", path,
          "' does not exist; put it beside the model");
  require(fd >= 0, ErrorCode::kFail, "external data: the file '", path, "' cannot be opened: ", std::strerror(errno));
  return open_.emplace(name, blob_of(MappedFile::adopt(fd, path), options_.copy_bytes)).first->second;
}

}  // namespace ortolan::onnx
