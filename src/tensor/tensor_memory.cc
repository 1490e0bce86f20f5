// Blocks of elements that know what they were charged.
#include "tensor/tensor_memory.h"

#include <atomic>
#include <memory>

#include "base/memory/memory_budget.h"
#include "base/threads/polled_loop.h"

namespace ortolan::tensor {
namespace {

constexpr size_t kBookkeeping = 128;  // what a block costs besides its elements, about

/** Ends strings. The run that made them is charged for long ones once, when they are there. */
struct StringsEnd {
  std::shared_ptr<Allocator> allocator;
  size_t count;
  MemoryCharge charge;
  std::atomic<bool> is_content_charged;
  MemoryCharge content;

  StringsEnd(std::shared_ptr<Allocator> source, size_t strings, MemoryCharge elements)
      : allocator(std::move(source)),
        count(strings),
        charge(std::move(elements)),
        is_content_charged(charge.bytes() == 0) {}
  StringsEnd(StringsEnd&& other) noexcept : StringsEnd(other.allocator, other.count, std::move(other.charge)) {}

  void operator()(std::string* strings) {
    std::destroy_n(strings, count);
    allocator->free(strings);
  }
};

std::shared_ptr<void> allocate_strings(int64_t count, const std::shared_ptr<Allocator>& allocator) {
  auto bytes = static_cast<size_t>(checked_mul(count, static_cast<int64_t>(sizeof(std::string))));
  StringsEnd end(allocator, static_cast<size_t>(count), MemoryCharge(checked_add(bytes, kBookkeeping)));
  auto* strings = static_cast<std::string*>(allocator->allocate(bytes));
  auto give_back = [&](void*) { allocator->free(strings); };  // empty strings hold nothing
  std::unique_ptr<void, decltype(give_back)> guard(strings, give_back);
  base::polled_loop(count, [&](int64_t begin, int64_t last) {
    std::uninitialized_default_construct(strings + begin, strings + last);
  });
  guard.release();
  return std::shared_ptr<void>(strings, std::move(end));
}

/** Ends elements that are not strings. */
struct ElementsEnd {
  std::shared_ptr<Allocator> allocator;
  MemoryCharge charge;
  void operator()(void* block) { allocator->free(block); }
};

void charge_strings_of(const Tensor& tensor) {
  if (tensor.type() != ElementType::kString) return;
  auto* end = std::get_deleter<StringsEnd>(tensor.owner());
  if (end == nullptr || end->is_content_charged.exchange(true)) return;
  size_t bytes = 0;
  for (const std::string& text : tensor.span<std::string>()) bytes += text.size() > kInlineString ? text.size() : 0;
  end->content.add(bytes);
}

}  // namespace

std::shared_ptr<void> allocate_elements(ElementType type, int64_t count, const std::shared_ptr<Allocator>& allocator) {
  if (type == ElementType::kString) {
    require(allocator->info().on_cpu(), ErrorCode::kInvalidArgument, "strings cannot be in memory '",
            allocator->info().name, "'; they are the CPU's");
    return allocate_strings(count, allocator);
  }
  const size_t bytes = bytes_for(type, count);
  ElementsEnd end{allocator,
                  allocator->info().on_cpu() ? MemoryCharge(checked_add(bytes, kBookkeeping)) : MemoryCharge()};
  return std::shared_ptr<void>(allocator->allocate(bytes), std::move(end));
}

void charge_strings(const Value& value) {
  if (const Tensor* tensor = value.tensor_if()) return charge_strings_of(*tensor);
  if (value.kind() == ValueKind::kMap) {
    charge_strings(value.map().keys);
    charge_strings(value.map().values);
  }
  if (value.kind() != ValueKind::kSequence) return;
  ElementType type = value.sequence().element_type;
  if (type != ElementType::kUndefined && type != ElementType::kString) return;
  if (value.sequence().rows()) return;  // their keys are the kernel's
  for (const Value& item : value.sequence().items()) charge_strings(item);
}

}  // namespace ortolan::tensor
