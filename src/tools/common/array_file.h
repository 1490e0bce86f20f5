// Tensors in files that other programs write: NumPy's .npy, and pictures in PGM and PPM.
#pragma once

#include <string>

#include "value.h"

namespace ortolan::tools {

// A .npy file of format 1, 2 or 3, little-endian, row-major.
Value read_npy(const std::string& path);

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;           // 1 or 3
  std::vector<float> pixels;  // [height][width][channels], 0 to 1
};

// PGM and PPM, plain and binary (P2, P3, P5, P6), any greatest value up to 65535.
Picture read_picture(const std::string& path);
// The picture scaled to the size (area average or nearest), as planes: [channels][height][width].
std::vector<float> planes(const Picture& picture, int channels, int height, int width);

}  // namespace ortolan::tools
