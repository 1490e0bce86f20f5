// Shapes of models of which a part is repeated as often as asked: what a file may hold much of.
#pragma once

#include <span>
#include <string>

namespace ortolan::test {

struct ModelShape {
  const char* name;
  /** The bytes of a model in which that part stands `n` times. */
  std::string (*make)(size_t n);
};

std::span<const ModelShape> model_shapes();

}  // namespace ortolan::test
