// Axes are counted from the last.
#include "gpu/core/host/host_broadcast.h"

#include <algorithm>

#include "gpu/device/error.h"

namespace ortolan::gpu {

Broadcast::Broadcast(const Node& node, const Shape& a, const Shape& b) : shape(std::max(a.size(), b.size())) {
  for (size_t i = 0; i < shape.size(); i++) {
    int64_t left = at(a, i), right = at(b, i);
    if (left != right && left != 1 && right != 1) {
      throw Error(ErrorKind::kInvalid, describe(node) + ": dimensions " + std::to_string(left) + " and " +
                                           std::to_string(right) + " do not broadcast");
    }
    shape[i] = left == 1 ? right : left;
  }
}

int64_t Broadcast::at(const Shape& part, size_t i) const {
  size_t lead = shape.size() - part.size();
  return i < lead ? 1 : part[i - lead];
}

int64_t Broadcast::place(const Shape& part, int64_t element) const {
  int64_t place = 0, stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t coordinate = element % shape[i];
    element /= shape[i];
    if (at(part, i) != 1) place += coordinate * stride;
    stride *= at(part, i);
  }
  return place;
}

}  // namespace ortolan::gpu
