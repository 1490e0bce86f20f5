// Runs a fuzz target without libFuzzer: models from a folder are changed at random for some seconds, without guidance
// by coverage. The input being tried is kept in a file, so that a crash leaves it behind.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kLargestSeed = 64 << 10;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void try_one(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s FILE | FOLDER SECONDS SEED KEPT_FILE\n", arguments[0]);
    return 2;
  }
  if (count == 2) {
    try_one(read_file(arguments[1]));
    return 0;
  }
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[1])) {
    if (entry.is_regular_file() && entry.file_size() <= kLargestSeed) seeds.push_back(read_file(entry.path()));
  }
  if (seeds.empty()) return 2;
  std::mt19937 random(static_cast<unsigned>(std::atoi(count > 3 ? arguments[3] : "1")));
  const char* kept = count > 4 ? arguments[4] : "fuzz_input";
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(arguments[2]));
  size_t tries = 0;
  for (; std::chrono::steady_clock::now() < end; ++tries) {
    std::string changed = ortolan::fuzz::mutate(seeds[random() % seeds.size()], seeds[random() % seeds.size()], random);
    std::ofstream(kept, std::ios::binary) << changed;
    try_one(changed);
  }
  std::printf("%zu models tried\n", tries);
  return 0;
}
