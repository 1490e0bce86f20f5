// Tensors that remember their place in a file: it rides on the owner of their memory.
#include "tensor/external_place.h"

namespace ortolan::tensor {
namespace {

/** What ends a tensor's memory: the owner that it had, held beside the place. */
struct PlacedOwner {
  std::shared_ptr<void> owner;
  ExternalPlace place;
  void operator()(void*) noexcept { owner.reset(); }
};

}  // namespace

Tensor with_place(const Tensor& tensor, ExternalPlace place) {
  auto* data = const_cast<void*>(tensor.raw());
  std::shared_ptr<void> owner(data, PlacedOwner{tensor.owner(), std::move(place)});
  return Tensor(tensor.type(), tensor.shape(), data, std::move(owner), tensor.memory());
}

const ExternalPlace* place_of(const Tensor& tensor) noexcept {
  const auto* placed = std::get_deleter<PlacedOwner>(tensor.owner());
  return placed != nullptr ? &placed->place : nullptr;
}

const std::shared_ptr<void>& memory_owner(const Tensor& tensor) noexcept {
  const auto* placed = std::get_deleter<PlacedOwner>(tensor.owner());
  return placed != nullptr ? placed->owner : tensor.owner();
}

}  // namespace ortolan::tensor
