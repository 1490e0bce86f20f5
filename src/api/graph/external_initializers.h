// OrtExternalInitializerInfo: where an initializer's elements lie in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ortolan::api {

struct ExternalInitializer {
  std::string path;  // relative to the model's folder
  int64_t offset = 0;
  size_t bytes = 0;
};

}  // namespace ortolan::api
