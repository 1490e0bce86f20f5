// Compiled kernels on disk, from one process to the next.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ortolan::gpu {

/** A cache: what cannot be read or written is as if it were not there. Processes may share a folder: files appear
 * whole. Thread-safe. */
class KernelStore {
 public:
  /** An empty folder stores nothing. It is made at the first write. */
  explicit KernelStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /** What was written under that key; empty where there is none, or where the file is cut, changed or of another key.
   */
  std::vector<std::byte> read(const std::string& key) const;
  void write(const std::string& key, std::span<const std::byte> content) const noexcept;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
};

/** Where kernels are kept unless told otherwise: ortolan/kernels in $XDG_CACHE_HOME, or in ~/.cache; empty where
 * neither is known. */
std::filesystem::path default_kernel_folder();

}  // namespace ortolan::gpu
