// External data: location entries, and files opened beneath a folder, or where a link there leads within bounds.
#include "onnx/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>

namespace ortolan::onnx {
namespace {

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

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
int open_by_parts(int folder, const std::string& path, int flags) {
  int at = dup(folder);
  for (size_t begin = 0; at >= 0 && begin < path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    ScopedFd parent(at);
    at = openat(at, part.c_str(), (end < path.size() ? kFolderFlags : flags) | O_NOFOLLOW);
  }
  return at;
}

int open_beneath(int folder, const std::string& path, int flags = kFileFlags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  auto fd = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return fd;
  return open_by_parts(folder, path, flags);
}

/** The errors of open_beneath that mean a symbolic link on the way. */
bool link_on_the_way(int error) { return error == ELOOP || error == EXDEV; }

/** `path` without symbolic links; empty, with errno set, where it leads to nothing. */
std::string real_path(const std::string& path) {
  char real[PATH_MAX];
  return realpath(path.c_str(), real) != nullptr ? real : "";
}

int open_folder(const std::string& path) { return ::open(path.c_str(), kFolderFlags); }

/** What `target` is called within `folder`, both without links; empty when it lies elsewhere. */
std::string_view within(std::string_view target, std::string_view folder) {
  size_t length = folder == "/" ? 0 : folder.size();
  bool beneath = !folder.empty() && target.substr(0, length) == folder.substr(0, length) &&
                 target.size() > length + 1 && target[length] == '/';
  return beneath ? target.substr(length + 1) : std::string_view();
}

/** The folder of the file that `path` leads to, without links; empty when it leads to nothing. */
std::string real_folder_of(const std::string& path) {
  std::string real = path.empty() ? "" : real_path(path);
  size_t slash = real.rfind('/');
  return real.empty() ? "" : real.substr(0, std::max(slash, size_t{1}));
}

/** Opens the file that the link `name` in the folder leads to, where that lies beneath the folder or `model_folder`.
    The way there is looked up as text and then walked from one of the two without any link, so what changes meanwhile
    can make this fail, not lead elsewhere. */
int open_target(int at, const std::string& folder, const std::string& model_folder, const std::string& name) {
  size_t slash = name.rfind('/');
  ScopedFd parent(slash == std::string::npos ? dup(at) : open_beneath(at, name.substr(0, slash), kFolderFlags));
  if (parent.fd < 0) return -1;
  std::string target = real_path(folder + "/" + name);
  if (target.empty()) return -1;
  for (const std::string& root : {real_path(folder), model_folder}) {
    std::string_view rest = within(target, root);
    if (rest.empty()) continue;
    ScopedFd top(open_folder(root));
    return top.fd < 0 ? -1 : open_beneath(top.fd, std::string(rest));
  }
  errno = EXDEV;
  return -1;
}

/** Opens `name` in the folder `at`, whose path is `folder`; a link at its end is followed as open_target says. */
int open_in_bounds(int at, const std::string& folder, const std::string& model_folder, const std::string& name) {
  int fd = open_beneath(at, name);
  return fd < 0 && link_on_the_way(errno) ? open_target(at, folder, model_folder, name) : fd;
}

[[noreturn]] void fail_for_link(const std::string& path, std::string_view what) {
  fail(ErrorCode::kInvalidGraph, what, ": '", path,
       "' leads through a symbolic link that a model may not follow; put the file itself there, or link to a file "
       "beneath the model's folder");
}

}  // namespace

void check_beneath(const std::string& folder, const std::string& model_path, const std::string& name,
                   std::string_view what) {
  check_path(name, what);
  if (folder.empty()) return;
  ScopedFd at(open_folder(folder));
  if (at.fd < 0) return;
  ScopedFd file(open_in_bounds(at.fd, folder, real_folder_of(model_path), name));
  if (file.fd < 0 && link_on_the_way(errno)) fail_for_link(folder + "/" + name, what);
  require(file.fd >= 0 || errno == ENOENT, ErrorCode::kInvalidGraph, what, ": '", folder, "/", name,
          "' cannot be opened: ", std::strerror(errno), "; put the file itself into the model's folder");
}

ExternalFiles::ExternalFiles(const ReadOptions& options, std::string folder, const std::string& model_path)
    : options_(options), folder_(std::move(folder)), model_folder_(real_folder_of(model_path)) {}

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
  ScopedFd folder(open_folder(folder_));
  require(folder.fd >= 0, ErrorCode::kNoSuchFile, "external data: the folder '", folder_,
          "' cannot be opened: ", std::strerror(errno));
  int fd = open_in_bounds(folder.fd, folder_, model_folder_, name);
  std::string path = folder_ + "/" + name;
  if (fd < 0 && link_on_the_way(errno)) fail_for_link(path, "external data");
  require(fd >= 0 || errno != ENOENT, ErrorCode::kNoSuchFile, "external data: the file '", path,
          "' does not exist; put it beside the model");
  require(fd >= 0, ErrorCode::kFail, "external data: the file '", path, "' cannot be opened: ", std::strerror(errno));
  return open_.emplace(name, blob_of(MappedFile::adopt(fd, path), options_.copy_bytes)).first->second;
}

}  // namespace ortolan::onnx
