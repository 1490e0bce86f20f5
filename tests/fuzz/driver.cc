// Runs a fuzz target without libFuzzer, without guidance by coverage: every input of the folders as it is, then random
// changes of them. Takes libFuzzer's options -runs=, -max_total_time=, -seed= and -artifact_prefix=. The input being
// tried is in a file, so that a crash leaves it behind; a file in the place of the folders is tried alone.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
constexpr size_t kLargestSeed = 64 << 10;

std::map<std::string, std::string> options = {
    {"-runs", "0"}, {"-max_total_time", "0"}, {"-seed", "1"}, {"-artifact_prefix", "./"}};

unsigned long number(const char* option) { return std::strtoul(options.at(option).c_str(), nullptr, 10); }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/** The inputs of a folder, in an order that is the same everywhere; or of a file. */
void read_seeds(const fs::path& path, std::vector<std::string>& seeds) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(path)) files.push_back(path);
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.file_size() <= kLargestSeed) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) seeds.push_back(read_file(file));
}

class Tries {
 public:
  Tries() : kept_(options.at("-artifact_prefix") + "crash-input") {}
  void add(const std::string& bytes) {
    std::ofstream(kept_, std::ios::binary) << bytes;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++count_;
  }
  void finish() {
    fs::remove(kept_);
    std::printf("%lu inputs tried\n", count_);
  }

 private:
  std::string kept_;
  unsigned long count_ = 0;
};

void try_changes(const std::vector<std::string>& seeds, Tries& tries) {
  using Clock = std::chrono::steady_clock;
  std::mt19937 random(static_cast<unsigned>(number("-seed")));
  auto end = Clock::now() + std::chrono::seconds(number("-max_total_time"));
  bool by_time = number("-max_total_time") > 0;
  for (unsigned long i = 0; by_time ? Clock::now() < end : i < number("-runs"); ++i) {
    const std::string& other = seeds[random() % seeds.size()];
    tries.add(ortolan::fuzz::mutate(seeds[random() % seeds.size()], other, random));
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> seeds;
  for (std::string argument : std::vector<std::string>(arguments + 1, arguments + count)) {
    size_t equals = argument.find('=');
    if (options.contains(argument.substr(0, equals))) {
      options[argument.substr(0, equals)] = argument.substr(equals + 1);
    } else {
      read_seeds(argument, seeds);
    }
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s [-runs=N | -max_total_time=SECONDS] [-seed=N] [-artifact_prefix=P] FOLDER...\n",
                 arguments[0]);
    return 2;
  }
  Tries tries;
  for (const std::string& seed : seeds) tries.add(seed);
  try_changes(seeds, tries);
  tries.finish();
  return 0;
}
