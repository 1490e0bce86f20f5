// Finds CLBlast, and calls it by its C interface.
#include "opencl/clblast.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "opencl/memory.h"
#include "opencl/queue.h"

namespace ortolan::gpu::opencl {

/** As clblast_c.h declares them: matrices in rows, with their first element, the distance of rows and that of a stack.
 */
struct ClblastFunctions {
  int (*product)(int layout, int turns_a, int turns_b, size_t m, size_t n, size_t k, float alpha, cl_mem a,
                 size_t a_first, size_t a_row, cl_mem b, size_t b_first, size_t b_row, float beta, cl_mem c,
                 size_t c_first, size_t c_row, cl_command_queue* queue, cl_event* event);
  int (*stack)(int layout, int turns_a, int turns_b, size_t m, size_t n, size_t k, float alpha, cl_mem a,
               size_t a_first, size_t a_row, size_t a_stack, cl_mem b, size_t b_first, size_t b_row, size_t b_stack,
               float beta, cl_mem c, size_t c_first, size_t c_row, size_t c_stack, size_t count,
               cl_command_queue* queue, cl_event* event);
};

namespace {

constexpr int kRowMajor = 101, kStraight = 111, kTurned = 112;
constexpr int64_t kLeastSide = 64;                 // of m, n and k
constexpr double kLeastWork = 1 << 24;             // multiplications of the stack
constexpr int64_t kLeastDepth = 256;               // k that makes up for a pass over C that prepares sums
constexpr int64_t kMost = (int64_t{1} << 31) - 1;  // CLBlast counts in int
constexpr size_t kTriedBytes = 2 * sizeof(float);  // two matrices of one element

int turn_of(const LibraryProduct::Matrix& matrix) { return matrix.turned ? kTurned : kStraight; }

size_t size(int64_t value) { return static_cast<size_t>(value); }

/** The element behind a matrix's last one. */
double end_of(const LibraryProduct::Matrix& matrix, int64_t rows, int64_t count) {
  double stacks = static_cast<double>(matrix.stack) * static_cast<double>(count - 1);
  return static_cast<double>(matrix.first) + stacks + static_cast<double>(matrix.row) * static_cast<double>(rows);
}

bool is_countable(const LibraryProduct& p) {
  double last = std::max({end_of(p.a, p.a.turned ? p.k : p.m, p.count), end_of(p.b, p.b.turned ? p.n : p.k, p.count),
                          end_of(p.c, p.m, p.count)});
  return last <= static_cast<double>(kMost);
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/** CLBlast with the version that the library's file has behind ".so.". */
std::string name_of(void* function) {
  Dl_info info{};
  std::error_code error;
  if (dladdr(function, &info) == 0) return "CLBlast";
  std::string file = std::filesystem::canonical(info.dli_fname, error).filename();
  size_t version = file.find(".so.");
  return version == std::string::npos ? "CLBlast" : "CLBlast " + file.substr(version + 4);
}

}  // namespace

bool is_tuned_by_clblast(const DeviceTraits& traits) {
  constexpr std::string_view kVendors[] = {"AMD",     "Advanced Micro Devices, Inc.", "ARM",    "GenuineIntel",
                                           "Intel",   "Intel(R) Corporation",         "NVIDIA", "NVIDIA Corporation",
                                           "QUALCOMM"};
  return traits.type == DeviceType::kGpu &&
         std::find(std::begin(kVendors), std::end(kVendors), traits.vendor) != std::end(kVendors);
}

bool is_large_for_clblast(const LibraryProduct& p) {
  double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  bool is_large = std::min({p.m, p.n, p.k}) >= kLeastSide && work * static_cast<double>(p.count) >= kLeastWork;
  return is_large && !p.is_half && (p.beta == 0 || p.k >= kLeastDepth);
}

cl_int ClblastProduct::enqueue(cl_command_queue queue, const std::array<cl_mem, 3>& matrices) const {
  const LibraryProduct& p = product_;
  const auto [a, b, c] = matrices;
  if (p.count == 1) {
    return functions_.product(kRowMajor, turn_of(p.a), turn_of(p.b), size(p.m), size(p.n), size(p.k), p.alpha, a,
                              size(p.a.first), size(p.a.row), b, size(p.b.first), size(p.b.row), p.beta, c,
                              size(p.c.first), size(p.c.row), &queue, nullptr);
  }
  return functions_.stack(kRowMajor, turn_of(p.a), turn_of(p.b), size(p.m), size(p.n), size(p.k), p.alpha, a,
                          size(p.a.first), size(p.a.row), size(p.a.stack), b, size(p.b.first), size(p.b.row),
                          size(p.b.stack), p.beta, c, size(p.c.first), size(p.c.row), size(p.c.stack), size(p.count),
                          &queue, nullptr);
}

std::unique_ptr<Clblast> Clblast::open(std::shared_ptr<Context> context, const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  auto functions = std::make_shared<ClblastFunctions>();
  if (!find(library, "CLBlastSgemm", functions->product)) return nullptr;
  if (!find(library, "CLBlastSgemmStridedBatched", functions->stack)) return nullptr;
  std::string name = name_of(reinterpret_cast<void*>(functions->product));
  return std::unique_ptr<Clblast>(new Clblast(std::move(context), std::move(functions), std::move(name)));
}

std::shared_ptr<const Kernel> Clblast::load(const LibraryProduct& product) {
  if (product.is_half || !is_countable(product) || !compiles(product.count > 1)) return nullptr;
  return std::make_shared<ClblastProduct>(*functions_, name_, product);
}

/** CLBlast compiles its kernels for all sizes at once, when it first needs them. */
bool Clblast::compiles(bool is_stack) {
  std::lock_guard lock(mutex_);
  std::optional<bool>& known = compiles_[is_stack];
  if (!known) known = try_out(is_stack);
  return *known;
}

bool Clblast::try_out(bool is_stack) const try {
  LibraryProduct one{1, 1, 1, is_stack ? 2 : 1, {0, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  OpenClQueue queue(context_, false);
  Block a(context_, kTriedBytes), b(context_, kTriedBytes), c(context_, kTriedBytes);
  cl_int code = ClblastProduct(*functions_, name_, one).enqueue(queue.get(), {a.get(), b.get(), c.get()});
  queue.finish();
  return code == CL_SUCCESS;
} catch (const Error& error) {
  if (error.kind() == ErrorKind::kDeviceLost) throw;
  return false;
}

}  // namespace ortolan::gpu::opencl
