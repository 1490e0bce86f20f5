// A list of launches in the making: memory blocks by their lives, launches by their uses.
#pragma once

#include "gpu/core/engine.h"
#include "gpu/core/progress.h"

namespace ortolan::gpu {

/** Memory in a recording: a block, or part of one. */
struct Memory {
  int block = -1;
  size_t bytes = 0;
  size_t offset = 0;  // in the block; a multiple of the device's offset_alignment
};

struct MemoryUse {
  Memory memory;
  bool written;
};

/** A library's product as a launch. */
struct LibraryCall {
  std::string_view name;  // of the library; lives as long as the device
  std::shared_ptr<const Kernel> kernel;
  std::vector<MemoryUse> uses;  // A, B and C
};

/** What a kernel does where it meets an error: it ORs `bit` into the word. */
struct ErrorBit {
  Memory word;
  int bit;
};

/** What a launch of a list is for. */
struct LaunchLabel {
  int node;  // of the graph; -1: none
  std::string kernel;
};

/** An output that a recording makes by changing an input where it is: positions in the group. */
struct Overwrite {
  int input, output;
};

/** What a recording becomes. Its first external range is working memory of `working_bytes`, which holds nothing between
 *  runs; the others are those of external(). */
struct RecordedList {
  std::unique_ptr<CommandList> list;
  size_t working_bytes = 0;
  size_t launches = 0;
  std::vector<LaunchLabel> labels;                 // of the launches
  std::vector<std::shared_ptr<Buffer>> constants;  // that the list reads
  std::vector<Overwrite> overwrites;               // that it makes or, when it is not in place, could make
  std::vector<std::string> errors;                 // texts by bit of the word of errors; empty: the list has none
  size_t error_word = 0;                           // its offset in the working memory, where it is after a run
};

class Recording {
 public:
  /** `in_place`: inputs that may be overwritten are in the memory of the outputs that they become. */
  explicit Recording(Engine& engine, bool in_place = false) : engine_(engine), in_place_(in_place) {}

  /** Lets `progress`, which must outlive it, know how it gets on with a graph of so many nodes. */
  void tell(Progress& progress, size_t nodes);

  /** Memory between launches of this list; what reads it comes after what writes it. */
  Memory working(size_t bytes);
  /** Memory given at each run, number `position`. */
  Memory external(int position, size_t bytes);
  Memory constant(std::shared_ptr<Buffer> buffer, size_t bytes);
  bool is_working(Memory memory) const { return blocks_[memory.block].kind == Kind::kWorking; }
  /** Lets working memory be the external one of that number from now on, for launches past and to come. */
  void bind_external(Memory memory, int position);
  /** Notes that an output can be made by changing an input; true: it must be. */
  bool overwrites(Overwrite overwrite) {
    overwrites_.push_back(overwrite);
    return in_place_;
  }
  /** A way to tell of an error that shows on the device alone. The word is 0 when a run begins. */
  ErrorBit error(const std::string& text);

  /** Launches are for that node of the graph from now on. Progress is told of it once. */
  void at_node(int node);
  int node() const { return node_; }
  void launch(KernelSpec spec, std::array<uint32_t, 3> groups, std::vector<MemoryUse> uses,
              std::vector<std::byte> params);
  void launch(LibraryCall call);
  /** Nanoseconds that such a launch takes on the device, alone, on its constants and on zeros. */
  int64_t measure(const KernelSpec& spec, std::array<uint32_t, 3> groups, const std::vector<MemoryUse>& uses,
                  const std::vector<std::byte>& params);
  int64_t measure(const LibraryCall& call);
  size_t launches() const { return launches_.size(); }

  Engine& engine() { return engine_; }
  /** Plans the memory and records. The recording is used up. */
  RecordedList finish();

 private:
  enum class Kind { kWorking, kExternal, kConstant };
  struct Block {
    Kind kind;
    size_t bytes;
    int position = -1;               // of an external block
    std::shared_ptr<Buffer> buffer;  // of a constant
    int first = -1, last = -1;       // launches that use it
    size_t offset = 0;               // in the working memory
  };
  struct Entry {
    KernelSpec spec;  // of a library's product its name alone
    std::array<uint32_t, 3> groups;
    std::vector<MemoryUse> uses;
    std::vector<std::byte> params;
    int node;
    std::shared_ptr<const Kernel> product = {};  // of a library; NULL: the kernel is the spec's
  };
  Memory add(Block block);
  /** A kernel's launch, with its groups as the device can have them. */
  Entry entry_of(KernelSpec spec, std::array<uint32_t, 3> groups, std::vector<MemoryUse> uses,
                 std::vector<std::byte> params) const;
  void launch(Entry entry);
  int64_t measure(const Entry& entry);
  std::shared_ptr<const Kernel> kernel_of(const Entry& entry) {
    return entry.product != nullptr ? entry.product : engine_.kernels().get(entry.spec);
  }
  void clear_on_device(Memory word);
  size_t plan_working_memory();
  Binding binding_of(const MemoryUse& use) const;
  bool conflicts(const MemoryUse& a, const MemoryUse& b) const;
  std::vector<bool> find_barriers() const;

  /** "for node 3 of 12 on 'device'" */
  std::string place() const;
  template <class Line>
  void say(Line&& line) {
    if (progress_ != nullptr) progress_->at(line);
  }

  Engine& engine_;
  const bool in_place_;
  Progress* progress_ = nullptr;
  size_t nodes_ = 0;
  size_t variants_ = 0;  // measured for this node
  std::vector<Overwrite> overwrites_;
  std::vector<Block> blocks_;
  std::vector<Entry> launches_;
  int node_ = -1;
  int told_ = -1;  // the last node that progress was told of
  Memory error_word_;
  std::vector<std::string> errors_;
  size_t error_count_ = 0;
};

}  // namespace ortolan::gpu
