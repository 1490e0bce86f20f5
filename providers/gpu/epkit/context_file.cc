// Written beside its place and renamed; opened by the path that links lead to.
#include "gpu/epkit/context_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {
namespace {

namespace fs = std::filesystem;

struct Descriptor {
  explicit Descriptor(const fs::path& path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int fd;
};

std::string reason() { return std::strerror(errno); }

bool is_beneath(const fs::path& path, const fs::path& folder) {
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return !folder.empty() && end == folder.end() && rest != path.end();
}

/** Without links; empty where it leads to nothing. */
fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? fs::path() : real;
}

void check_name(const std::string& name) {
  fs::path path = name;
  bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (name.empty() || path.is_absolute() || climbs) {
    fail(ORT_INVALID_GRAPH,
         "the file '" + name + "' cannot be in the model's folder; it must be a path from there, " + "without '..'");
  }
}

/** Where the file really is. */
fs::path find_file(const fs::path& folder, const fs::path& model, const std::string& name) {
  check_name(name);
  fs::path real = real_path(folder / name);
  if (real.empty()) {
    fail(ORT_NO_SUCHFILE, "the file '" + (folder / name).string() +
                              "' is not there; it belongs to the compiled model: put it beside it, or compile again");
  }
  bool is_there =
      is_beneath(real, real_path(folder)) || (!model.empty() && is_beneath(real, real_path(model).parent_path()));
  if (!is_there) {
    fail(ORT_INVALID_GRAPH, "the file '" + (folder / name).string() + "' is a link to '" + real.string() +
                                "', outside of the model's folder; put the file itself there");
  }
  return real;
}

}  // namespace

void write_context_file(const fs::path& path, std::span<const std::byte> bytes) {
  fs::path temporary = path;
  temporary += "." + std::to_string(getpid());
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (!file.fail()) fs::rename(temporary, path, error);
  if (!file.fail() && !error) return;
  std::string why = error ? error.message() : reason();
  fs::remove(temporary, error);
  fail(ORT_FAIL, "cannot write '" + path.string() + "' of " + std::to_string(bytes.size()) + " bytes: " + why);
}

HostBytes map_context_file(const fs::path& folder, const fs::path& model, const std::string& name) {
  fs::path path = find_file(folder, model, name);
  Descriptor file(path);
  struct stat facts {};
  if (file.fd < 0 || fstat(file.fd, &facts) != 0) fail(ORT_FAIL, "cannot read '" + path.string() + "': " + reason());
  if (!S_ISREG(facts.st_mode)) fail(ORT_INVALID_GRAPH, "'" + path.string() + "' is not a regular file");
  auto size = static_cast<size_t>(facts.st_size);
  if (size == 0) return {};
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) fail(ORT_FAIL, "cannot map '" + path.string() + "': " + reason());
  std::shared_ptr<const void> owner(data, [size](void* mapped) { munmap(mapped, size); });
  return {{static_cast<const std::byte*>(data), size}, std::move(owner)};
}

}  // namespace ortolan::gpu::epkit
