// Tensors: allocation, views, copies, packed elements, broadcasting, and the plain CPU allocator.
#include "tensor/tensor.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/memory/aligned_block.h"
#include "base/memory/memory_budget.h"
#include "base/threads/polled_loop.h"
#include "tensor/tensor_memory.h"

namespace ortolan::tensor {
namespace {

class CpuAllocator : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* block = base::allocate_aligned(bytes);
    require(block != nullptr, ErrorCode::kFail, "cannot allocate ", bytes,
            " bytes of memory; use smaller inputs or a machine with more memory");
    return block;
  }
  void free(void* block) noexcept override { std::free(block); }
  const MemoryInfo& info() const override { return info_; }

 private:
  const MemoryInfo& info_ = interned(MemoryInfo{.allocator_type = 0});
};

}  // namespace

const std::shared_ptr<Allocator>& cpu_allocator() {
  static auto* allocator = new std::shared_ptr<Allocator>(std::make_shared<CpuAllocator>());
  return *allocator;
}

Tensor::Tensor(ElementType type, Shape shape, const std::shared_ptr<Allocator>& allocator)
    : type_(type), shape_(std::move(shape)), memory_(&allocator->info()) {
  owner_ = allocate_elements(type, shape_.element_count(), allocator);
  data_ = owner_.get();
}

void Tensor::refuse(ElementType wanted) const {
  fail(ErrorCode::kInvalidArgument, "tensor holds ", name_of(type_), ", not ", name_of(wanted));
}

Tensor Tensor::reshaped(Shape shape) const {
  require(shape.element_count() == element_count(), ErrorCode::kInvalidArgument, "shape ", shape, " has ",
          shape.element_count(), " elements, but the tensor of shape ", shape_, " has ", element_count());
  return Tensor(type_, std::move(shape), data_, owner_, *memory_);
}

Tensor clone(const Tensor& tensor, const std::shared_ptr<Allocator>& allocator) {
  Tensor copy(tensor.type(), tensor.shape(), allocator);
  copy_elements(tensor, copy);
  return copy;
}

void copy_elements(const Tensor& from, Tensor& to) {
  require(from.type() == to.type() && from.element_count() == to.element_count(), ErrorCode::kInvalidArgument,
          "cannot copy a tensor of ", name_of(from.type()), from.shape(), " into one of ", name_of(to.type()),
          to.shape());
  for (const Tensor* tensor : {&from, static_cast<const Tensor*>(&to)}) {
    require(tensor->memory().on_cpu(), ErrorCode::kInvalidArgument, "a tensor is in memory '", tensor->memory().name,
            "', which the CPU cannot read; copy it with CopyTensors");
  }
  if (from.raw() == to.raw()) return;
  if (from.type() == ElementType::kString) {
    const std::string* texts = from.data<std::string>();
    std::string* copies = to.mutable_data<std::string>();
    base::polled_loop(from.element_count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        count_string(texts[i].size());
        copies[i] = texts[i];
      }
    });
  } else {
    base::polled_copy(to.mutable_raw(), from.raw(), static_cast<int64_t>(from.byte_count()));
  }
}

namespace {

template <class I>
std::vector<int64_t> widened(std::span<const I> values) {
  std::vector<int64_t> result;
  result.reserve(values.size());
  const I* from = values.data();
  base::polled_loop(std::ssize(values),
                    [&](int64_t begin, int64_t end) { result.insert(result.end(), from + begin, from + end); });
  return result;
}

}  // namespace

std::vector<int64_t> to_int64s(const Tensor& tensor) {
  if (tensor.type() == ElementType::kInt32) return widened(tensor.span<int32_t>());
  return widened(tensor.span<int64_t>());
}

int unpack_element(ElementType type, const void* data, int64_t index) {
  int bits = bits_of(type);
  int per_byte = 8 / bits;
  int shift = static_cast<int>(index % per_byte) * bits;
  int code = (static_cast<const uint8_t*>(data)[index / per_byte] >> shift) & ((1 << bits) - 1);
  bool is_signed = type == ElementType::kInt4 || type == ElementType::kInt2;
  return is_signed && (code >> (bits - 1)) ? code - (1 << bits) : code;
}

void pack_element(ElementType type, void* data, int64_t index, int code) {
  int bits = bits_of(type);
  int per_byte = 8 / bits;
  int shift = static_cast<int>(index % per_byte) * bits;
  int mask = ((1 << bits) - 1) << shift;
  uint8_t& byte = static_cast<uint8_t*>(data)[index / per_byte];
  byte = static_cast<uint8_t>((byte & ~mask) | ((code << shift) & mask));
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  size_t offset = longer.rank() - shorter.rank();
  for (size_t i = 0; i < shorter.rank(); ++i) {
    int64_t& dim = result[offset + i];
    require(dim == shorter[i] || dim == 1 || shorter[i] == 1, ErrorCode::kInvalidArgument, "shapes ", a, " and ", b,
            " do not broadcast: dimensions ", dim, " and ", shorter[i], " differ and neither is 1");
    if (dim == 1) dim = shorter[i];
  }
  return result;
}

}  // namespace ortolan::tensor
