// matrix_types SPIRV RESULT [ARRAY]: completes the types of matrices of a module (matrix_types.h); RESULT is the
// module, or a header with its words as ARRAY.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include "vulkan/matrix_types.h"

namespace {

std::vector<uint32_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::copy_n(bytes.begin(), words.size() * sizeof(uint32_t), reinterpret_cast<char*>(words.data()));
  return words;
}

void write(std::ostream& to, const std::vector<uint32_t>& words, const char* array) {
  if (array == nullptr) {
    to.write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * sizeof(uint32_t)));
    return;
  }
  to << "// Made by matrix_types.\nconst uint32_t " << array << "[] = {";
  for (uint32_t word : words) to << word << ",";
  to << "};\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  try {
    const std::vector<uint32_t> words = ortolan::gpu::vulkan::with_matrix_types(read(arguments[1]));
    std::ofstream file(arguments[2], std::ios::binary);
    write(file, words, count > 3 ? arguments[3] : nullptr);
    if (!file.flush()) throw std::runtime_error(std::string(arguments[2]) + " cannot be written");
  } catch (const std::exception& error) {
    std::cerr << "matrix_types: " << arguments[1] << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}
