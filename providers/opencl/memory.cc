// Buffers and sub-buffers.
#include "opencl/memory.h"

#include <sys/mman.h>

#include <cstdlib>

#include "gpu/device/checks.h"

namespace ortolan::gpu::opencl {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

MemoryHandle create_memory(Context& context, size_t bytes, cl_mem_flags flags, void* host) {
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(clCreateBuffer(context.get(), CL_MEM_READ_WRITE | flags, bytes, host, &code));
  context.check(code, "clCreateBuffer", [&] { return "a buffer of " + std::to_string(bytes) + " bytes"; });
  return memory;
}

/** NULL where there is no such memory. The part that is no whole huge page stays on small ones. */
void* allocate_huge_pages(size_t bytes) {
  void* block = nullptr;
  if (bytes > SIZE_MAX - kHugePage || posix_memalign(&block, kHugePage, bytes) != 0) return nullptr;
  madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

void CL_CALLBACK free_host_memory(cl_mem, void* host) { std::free(host); }

/** A CPU works in memory of this process: large blocks are on huge pages, which drivers do not ask for. */
MemoryHandle create_memory(Context& context, size_t bytes) {
  bool wants_pages = context.traits().type == DeviceType::kCpu && bytes >= kHugePage;
  std::unique_ptr<void, decltype(&std::free)> host(wants_pages ? allocate_huge_pages(bytes) : nullptr, &std::free);
  if (host == nullptr) return create_memory(context, bytes, 0, nullptr);
  MemoryHandle memory = create_memory(context, bytes, CL_MEM_USE_HOST_PTR, host.get());
  context.check(clSetMemObjectDestructorCallback(memory.get(), free_host_memory, host.get()),
                "clSetMemObjectDestructorCallback", [] { return "the end of a buffer"; });
  host.release();
  return memory;
}

}  // namespace

Block::Block(std::shared_ptr<Context> context, size_t bytes)
    : context_(std::move(context)), bytes_(bytes), number_(next_number()), memory_(create_memory(*context_, bytes)) {}

MemoryHandle Block::create_part(size_t offset, size_t bytes) const {
  const cl_buffer_region region = {offset, bytes};
  cl_int code = CL_SUCCESS;
  MemoryHandle part(clCreateSubBuffer(memory_.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  context_->check(code, "clCreateSubBuffer", [&] {
    return words_of("a part of", {nullptr, offset, bytes}) + " of a buffer of " + std::to_string(bytes_) + " bytes";
  });
  return part;
}

cl_mem Block::acquire(size_t offset, size_t bytes) {
  if (is_whole(offset, bytes)) return memory_.get();
  std::lock_guard lock(mutex_);
  auto found = parts_.find({offset, bytes});
  if (found == parts_.end()) found = parts_.emplace(Range(offset, bytes), Part{create_part(offset, bytes)}).first;
  found->second.uses++;
  return found->second.memory.get();
}

void Block::release(size_t offset, size_t bytes) {
  if (is_whole(offset, bytes)) return;
  std::lock_guard lock(mutex_);
  auto found = parts_.find({offset, bytes});
  if (--found->second.uses == 0) parts_.erase(found);
}

Block& block_of(const BufferRange& range) {
  check_range("opencl", range);
  return *static_cast<OpenClBuffer*>(range.buffer)->block();
}

BoundRange::BoundRange(const BufferRange& range, const DeviceTraits& traits) {
  check_bound_range("opencl", range, traits);
  Block& block = block_of(range);
  if (range.bytes == 0) return;
  memory_ = block.acquire(range.offset, range.bytes);
  block_ = static_cast<OpenClBuffer*>(range.buffer)->block();
  offset_ = range.offset;
  bytes_ = range.bytes;
}

BoundRange& BoundRange::operator=(BoundRange&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(offset_, other.offset_);
  std::swap(bytes_, other.bytes_);
  std::swap(memory_, other.memory_);
  return *this;
}

BoundRange::~BoundRange() {
  if (std::shared_ptr<Block> block = block_.lock()) block->release(offset_, bytes_);
}

}  // namespace ortolan::gpu::opencl
