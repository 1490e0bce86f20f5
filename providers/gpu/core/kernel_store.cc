// A file a kernel: a mark, the sizes of key and content, the hash of both, key, content. Written beside its place and
// renamed.
#include "gpu/core/kernel_store.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::gpu {
namespace {

namespace fs = std::filesystem;

struct Header {
  char mark[8] = {'o', 'r', 't', 'k', 'e', 'r', 'n', '1'};
  uint64_t key_bytes = 0, content_bytes = 0, hash = 0;
};

uint64_t hash_of(const std::string& key, std::span<const std::byte> content) {
  return XXH3_64bits_withSeed(content.data(), content.size(), XXH3_64bits(key.data(), key.size()));
}

std::vector<char> whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/** A name that no other writer uses. */
fs::path beside(const fs::path& path) {
  static std::atomic<unsigned> number{0};
  fs::path result = path;
  result += "." + std::to_string(getpid()) + "." + std::to_string(number++);
  return result;
}

bool write_whole(const fs::path& path, const std::string& key, std::span<const std::byte> content) {
  Header header;
  header.key_bytes = key.size();
  header.content_bytes = content.size();
  header.hash = hash_of(key, content);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  file.close();
  return !file.fail();
}

}  // namespace

fs::path KernelStore::file_of(const std::string& key) const {
  XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return folder_ / name;
}

std::vector<std::byte> KernelStore::read(const std::string& key) const {
  if (folder_.empty()) return {};
  std::vector<char> file = whole_file(file_of(key));
  Header header, wanted;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  size_t rest = file.size() - sizeof header;
  if (std::memcmp(header.mark, wanted.mark, sizeof header.mark) != 0 || header.key_bytes != key.size() ||
      rest < key.size() || header.content_bytes != rest - key.size() ||
      std::memcmp(file.data() + sizeof header, key.data(), key.size()) != 0) {
    return {};
  }
  auto* content = reinterpret_cast<const std::byte*>(file.data()) + sizeof header + key.size();
  std::vector<std::byte> result(content, content + header.content_bytes);
  return hash_of(key, result) == header.hash ? result : std::vector<std::byte>();
}

void KernelStore::write(const std::string& key, std::span<const std::byte> content) const noexcept {
  if (folder_.empty() || content.empty()) return;
  try {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    fs::path place = file_of(key), temporary = beside(place);
    bool is_whole = write_whole(temporary, key, content);
    if (is_whole) fs::rename(temporary, place, ignored);
    if (!is_whole || ignored) fs::remove(temporary, ignored);
  } catch (const std::exception&) {  // no memory for names: the kernel is compiled again next time
  }
}

fs::path default_kernel_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return fs::path(cache) / "ortolan" / "kernels";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return fs::path(home) / ".cache" / "ortolan" / "kernels";
  return {};
}

}  // namespace ortolan::gpu
