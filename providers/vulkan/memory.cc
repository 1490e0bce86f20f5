// Slabs and their pieces.
#include "vulkan/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "gpu/device/checks.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr size_t kSlabBytes = size_t{32} << 20;
constexpr size_t kLargest = kSlabBytes / 4;  // of pieces that share a slab
constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

size_t rounded(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

std::string words_for(size_t bytes) { return "memory of " + std::to_string(bytes) + " bytes"; }

}  // namespace

Piece::~Piece() { pool_->give_back(slab_, offset_, bytes_); }

MemoryPool::~MemoryPool() {
  for (auto& slab : slabs_) end(*slab);
}

std::shared_ptr<Piece> MemoryPool::allocate(size_t bytes) {
  context_->collect();
  bytes = rounded(std::max<size_t>(bytes, 1), context_->traits().offset_alignment);
  std::lock_guard lock(mutex_);
  std::shared_ptr<Piece> piece = take(bytes);
  if (piece != nullptr) return piece;
  add_slab(bytes > kLargest ? bytes : kSlabBytes);
  return take(bytes);
}

/** NULL where no slab has room. */
std::shared_ptr<Piece> MemoryPool::take(size_t bytes) {
  for (auto& slab : slabs_) {
    for (auto part = slab->free.begin(); part != slab->free.end(); ++part) {
      auto [offset, room] = *part;
      if (room < bytes) continue;
      auto piece = std::make_shared<Piece>(shared_from_this(), *slab, offset, bytes);
      slab->free.erase(part);
      if (room > bytes) slab->free.emplace(offset + bytes, room - bytes);
      return piece;
    }
  }
  return nullptr;
}

/** The largest slabs go when they are empty; of the others one stays. */
void MemoryPool::give_back(Slab& slab, size_t offset, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto next = slab.free.lower_bound(offset);
  if (next != slab.free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = slab.free.erase(next);
  }
  if (next != slab.free.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
    std::prev(next)->second += bytes;
  } else {
    slab.free.emplace(offset, bytes);
  }
  auto is_empty = [](const Slab& each) { return each.free.size() == 1 && each.free.begin()->second == each.bytes; };
  if (!is_empty(slab)) return;
  auto others = std::count_if(slabs_.begin(), slabs_.end(), [&](auto& each) { return is_empty(*each); });
  if (slab.bytes == kSlabBytes && others < 2 && !slab.imported) return;
  end(slab);
  std::erase_if(slabs_, [&](const auto& each) { return each.get() == &slab; });
}

Slab& MemoryPool::add_slab(size_t bytes) {
  auto slab = std::make_unique<Slab>();
  slab->number = next_number();
  slab->bytes = bytes;
  try {
    fill(*slab);
  } catch (...) {
    end(*slab);
    throw;
  }
  slab->free.emplace(0, bytes);
  slabs_.push_back(std::move(slab));
  return *slabs_.back();
}

std::shared_ptr<Piece> MemoryPool::import(int file, size_t bytes) {
  context_->collect();
  auto slab = std::make_unique<Slab>();
  slab->number = next_number();
  slab->bytes = bytes;
  slab->imported = true;
  try {
    fill_from(*slab, file);
  } catch (...) {
    end(*slab);
    throw;
  }
  std::lock_guard lock(mutex_);
  slabs_.push_back(std::move(slab));
  return std::make_shared<Piece>(shared_from_this(), *slabs_.back(), 0, bytes);
}

VkMemoryRequirements MemoryPool::make_buffer(Slab& slab, const void* more) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, more};
  info.size = slab.bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  auto asked = [&] { return words_for(slab.bytes); };
  context_->check(context_->call().CreateBuffer(context_->get(), &info, nullptr, &slab.buffer), "CreateBuffer", asked);
  VkMemoryRequirements needed;
  context_->call().GetBufferMemoryRequirements(context_->get(), slab.buffer, &needed);
  return needed;
}

void MemoryPool::fill(Slab& slab) {
  const DeviceFunctions& call = context_->call();
  auto asked = [&] { return words_for(slab.bytes); };
  const VkMemoryRequirements needed = make_buffer(slab, nullptr);
  const FoundDevice& found = context_->found();
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  if (found.features.memory_budget) memory.pNext = &budget;
  found.instance->call().GetPhysicalDeviceMemoryProperties2(found.device, &memory);
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needed.size;
  allocation.memoryTypeIndex = choose_type(slab, needed.memoryTypeBits, memory.memoryProperties);
  const VkMemoryType& type = memory.memoryProperties.memoryTypes[allocation.memoryTypeIndex];
  if (found.features.memory_budget) check_budget(slab, type.heapIndex, budget);
  context_->check(call.AllocateMemory(context_->get(), &allocation, nullptr, &slab.memory), "AllocateMemory", asked);
  context_->check(call.BindBufferMemory(context_->get(), slab.buffer, slab.memory, 0), "BindBufferMemory", asked);
  if (kind_ == Kind::kStaging || found.features.mapped) map(slab);
}

void MemoryPool::map(Slab& slab) {
  void* mapped = nullptr;
  context_->check(context_->call().MapMemory(context_->get(), slab.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "MapMemory",
                  [&] { return words_for(slab.bytes); });
  slab.mapped = static_cast<std::byte*>(mapped);
}

/** A driver takes the kind of memory alone that the exporter chose, which nothing tells: each is tried. */
void MemoryPool::fill_from(Slab& slab, int file) {
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  const VkMemoryRequirements needed = make_buffer(slab, &external);
  for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES && fcntl(file, F_GETFD) >= 0; type++) {
    if ((needed.memoryTypeBits >> type & 1) != 0 && bind_import(slab, file, needed, type)) return;
  }
  throw Error(ErrorKind::kInvalid, "vulkan: device '" + context_->traits().name + "' does not take descriptor " +
                                       std::to_string(file) + " as " + words_for(slab.bytes) +
                                       "; give one that a Vulkan device of this driver exported, with the size of all "
                                       "that was allocated");
}

/** Whether the driver takes it so. It owns a descriptor that it takes. */
bool MemoryPool::bind_import(Slab& slab, int file, const VkMemoryRequirements& needed, uint32_t type) {
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  import.fd = own;
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import};
  allocation.allocationSize = needed.size;
  allocation.memoryTypeIndex = type;
  if (context_->call().AllocateMemory(context_->get(), &allocation, nullptr, &slab.memory) != VK_SUCCESS) {
    slab.memory = VK_NULL_HANDLE;
    close(own);
    return false;
  }
  context_->check(context_->call().BindBufferMemory(context_->get(), slab.buffer, slab.memory, 0), "BindBufferMemory",
                  [&] { return words_for(slab.bytes); });
  const FoundDevice& found = context_->found();
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  found.instance->call().GetPhysicalDeviceMemoryProperties2(found.device, &memory);
  const VkMemoryPropertyFlags flags = memory.memoryProperties.memoryTypes[type].propertyFlags;
  if (found.features.mapped && (flags & kHost) == kHost) map(slab);
  return true;
}

void MemoryPool::end(Slab& slab) {
  context_->call().DestroyBuffer(context_->get(), slab.buffer, nullptr);
  context_->call().FreeMemory(context_->get(), slab.memory, nullptr);
}

/** The first type, which is the driver's best, that has what most is wanted. */
uint32_t MemoryPool::choose_type(const Slab& slab, uint32_t allowed, const VkPhysicalDeviceMemoryProperties& memory) {
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const VkMemoryPropertyFlags device[] = {context_->features().mapped ? kLocal | kCached : kLocal, 0};
  const VkMemoryPropertyFlags staging[] = {kCached, kHost};
  for (VkMemoryPropertyFlags wanted : kind_ == Kind::kDevice ? device : staging) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
      if ((allowed >> i & 1) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    }
  }
  throw Error(ErrorKind::kOutOfMemory, "vulkan: device '" + context_->traits().name + "' has no kind of " +
                                           words_for(slab.bytes) + " that its kernels can use");
}

void MemoryPool::check_budget(const Slab& slab, uint32_t heap,
                              const VkPhysicalDeviceMemoryBudgetPropertiesEXT& budget) {
  const VkDeviceSize left = budget.heapBudget[heap] - std::min(budget.heapUsage[heap], budget.heapBudget[heap]);
  if (slab.bytes <= left || budget.heapBudget[heap] == 0) return;
  throw Error(ErrorKind::kOutOfMemory, "vulkan: device '" + context_->traits().name + "' has " + std::to_string(left) +
                                           " bytes left for this process, asked for " + words_for(slab.bytes) +
                                           remedy(ErrorKind::kOutOfMemory));
}

Place place_of(const BufferRange& range) {
  check_range("vulkan", range);
  const Piece& piece = static_cast<const VulkanBuffer*>(range.buffer)->piece();
  std::byte* mapped = piece.mapped();
  return {piece.slab().number, piece.slab().buffer, piece.offset() + range.offset, range.bytes,
          mapped == nullptr ? nullptr : mapped + range.offset};
}

}  // namespace ortolan::gpu::vulkan
