// Kernels: what a provider implements for an operator, what it learns when it is made, and what it sees in a run.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"

namespace ortolan::base {
class Logger;
class ThreadPool;
}  // namespace ortolan::base

namespace ortolan::tensor {
class Stream;
}

namespace ortolan::runtime {
using namespace graph;

class DeviceMemories;
class KernelContext;
class RunStreams;

/** What a kernel needs of a constant input while it runs. */
enum class ConstantUse : uint8_t {
  kNothing,   // it keeps them packed: their memory is given back; type and shape can still be asked
  kBytes,     // it copies them with memcpy, so they may stay unaligned where they lie in the model's file
  kElements,  // it reads them as elements of their type
};

/** What a kernel says of one compute() in a profile. */
struct KernelReport {
  std::string kernel;    // what ran, as "gemm_f32 packed 128x768x3072"; empty: nothing but the operator
  std::string_view isa;  // the instruction set of its loops; empty: that of its provider's kernels
};

/** The compiled form of one node. compute() may be called by many threads at once, so it changes nothing here. */
class OpKernel {
 public:
  virtual ~OpKernel() = default;
  virtual void compute(KernelContext& context) const = 0;
  /** How compute() did its work in the context that it has just returned from. Asked only while a profile is recorded.
   */
  virtual KernelReport report(const KernelContext& context) const { return {}; }
  /** What compute() needs of constant input i. */
  virtual ConstantUse constant_use(size_t i) const { return ConstantUse::kElements; }
};

/** A subgraph (an If branch, a Loop or Scan body), ready to run. */
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  /** Runs it with its formal inputs; values it captures from around it come from the calling node's context. */
  virtual std::vector<Value> run(KernelContext& context, std::span<const Value> inputs) const = 0;
};

/** Shares packed weights between nodes and sessions. */
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;
  /** The packed form of `weights` under `layout` (names the packing and its parameters, e.g. "gemm_f32 n48"), made by
      `make` when no equal weights are packed so yet. */
  virtual std::shared_ptr<void> get(const Tensor& weights, std::string_view layout,
                                    FunctionRef<std::shared_ptr<void>()> make) = 0;
};

/** What a kernel's maker may ask about its node. Valid only while the kernel is made. */
class KernelInfo {
 public:
  virtual ~KernelInfo() = default;
  explicit KernelInfo(const Node& node) : node_(node) {}

  const Node& node() const { return node_; }
  int opset() const { return node_.opset; }
  size_t input_count() const { return node_.inputs().size(); }
  size_t output_count() const { return node_.outputs().size(); }
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  bool has_output(size_t i) const { return node_.output(i) != nullptr; }
  /** Type and, as far as known, shape; unknown when the input is missing. */
  const TypeInfo& input_type(size_t i) const;
  const TypeInfo& output_type(size_t i) const;
  /** The elements of an input that never changes, else NULL. They live as long as the session. */
  const Tensor* constant_input(size_t i) const;
  /** The same without a copy for alignment, for kernels that only pack it: read it with unaligned loads or memcpy. */
  const Tensor* weights_input(size_t i) const;

  virtual ThreadPool& threads() const = 0;
  /** The session's config entry `key`, or `fallback`. */
  virtual std::string_view config(std::string_view key, std::string_view fallback) const = 0;
  virtual PackedWeights& packed_weights() const = 0;
  /** All config entries of the session, and its logger; NULL where there is no session. They live as long as it. */
  virtual const std::map<std::string, std::string>* config_entries() const { return nullptr; }
  virtual const Logger* logger() const { return nullptr; }
  /** The runner of a graph attribute; throws when there is none. It lives as long as the session. */
  virtual const SubgraphRunner& subgraph(std::string_view attribute) const = 0;

 private:
  const Node& node_;
};

/** Services of the running session that a kernel may use. */
struct RunServices {
  ThreadPool* threads = nullptr;
  const Logger* logger = nullptr;           // NULL where there is no session
  std::shared_ptr<Allocator> allocator;     // for outputs and scratch
  int64_t max_tensor_bytes = INT64_MAX;     // cap for one tensor
  const DeviceMemories* devices = nullptr;  // NULL where all values are in the CPU's memory
  RunStreams* streams = nullptr;            // the run's queues; NULL where no provider has any
};

/** One node's inputs and outputs in one run. Made by the executor; kernels only use the public part. */
class KernelContext {
 public:
  virtual ~KernelContext() = default;

  size_t input_count() const { return input_count_; }
  size_t output_count() const { return output_count_; }
  bool has_input(size_t i) const { return i < input_count_ && inputs_[i] != nullptr && inputs_[i]->has_value(); }
  /** True when the node names output i, so that it must be computed. */
  bool has_output(size_t i) const { return i < output_count_ && outputs_[i] != nullptr; }

  /** Input i of any kind; an absent or empty one is a Value without content. */
  const Value& input_value(size_t i) const;
  /** Tensor input i; throws when it is missing or no tensor. */
  const Tensor& input(size_t i) const {
    if (i < input_count_ && inputs_[i] != nullptr) [[likely]] {
      if (const Tensor* tensor = inputs_[i]->tensor_if()) [[likely]]
        return *tensor;
    }
    fail_input(i);
  }
  /** Tensor input i, NULL when it is missing. */
  const Tensor* input_if(size_t i) const {
    return i < input_count_ && inputs_[i] != nullptr ? inputs_[i]->tensor_if() : nullptr;
  }

  /** Tensor output i, of the type and shape that the operator's shape rule gives for the present inputs. Throws when
      the rule cannot know the shape: such kernels call the form below. */
  Tensor& output(size_t i) {
    if (Tensor* ready = prepared_[i]) [[likely]]
      return *ready;
    return prepare_output(i);
  }
  /** Tensor output i with a shape that only the kernel knows. */
  Tensor& output(size_t i, const Shape& shape) { return allocate_output(i, shape); }
  Tensor& output(size_t i, ElementType type, const Shape& shape) { return allocate_output(i, type, shape); }
  /** Gives output i a value that the kernel made: a sequence, map, optional, or a view of an input. */
  void set_output(size_t i, Value value);

  /** The place of output i, which holds what output() or set_output() put there; only when has_output(i). */
  Value& output_value(size_t i) { return *outputs_[i]; }
  const Value& output_value(size_t i) const { return *outputs_[i]; }

  ThreadPool& threads() const { return *services_->threads; }
  const RunServices& services() const { return *services_; }
  const Node& node() const { return *node_; }
  /** The queue that the node's work goes into; NULL where its provider has none. */
  virtual Stream* stream() const = 0;
  /** A block for the time of this compute(), 64-byte aligned, uninitialised. */
  template <class T>
  std::span<T> scratch(int64_t count) {
    auto bytes = checked_mul(static_cast<size_t>(checked_mul(count, int64_t{1})), sizeof(T));
    return {static_cast<T*>(scratch_bytes(bytes)), static_cast<size_t>(count)};
  }

 protected:
  [[noreturn]] void fail_input(size_t i) const;
  virtual Tensor& prepare_output(size_t i) = 0;
  virtual Tensor& allocate_output(size_t i, const Shape& shape) = 0;
  virtual Tensor& allocate_output(size_t i, ElementType type, const Shape& shape) = 0;
  virtual void* scratch_bytes(size_t bytes) = 0;

  const Node* node_ = nullptr;
  const RunServices* services_ = nullptr;
  Value* const* inputs_ = nullptr;  // NULL entries for inputs that are left out
  Value* const* outputs_ = nullptr;
  Tensor** prepared_ = nullptr;  // outputs whose memory is ready
  uint32_t input_count_ = 0;
  uint32_t output_count_ = 0;
  bool gives_views_ = false;  // the kernel's row says Reuse::kView
};

}  // namespace ortolan::runtime
