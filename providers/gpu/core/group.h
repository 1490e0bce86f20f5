// A group of nodes that runs on a device: recorded once for each set of shapes, then replayed.
#pragma once

#include <array>
#include <list>

#include "gpu/core/operators.h"

namespace ortolan::gpu {

/** Positions of the inputs that the host must read before commands can be recorded: those whose elements a node needs
 * to know, such as a target shape, and those that such elements are computed from. In order. */
std::vector<int> inputs_to_read(const Graph& graph);

/** An input of a run. */
struct GroupInput {
  Shape shape;
  BufferRange range;                // exactly its elements; at least 4 bytes of buffer where it has none
  const std::byte* host = nullptr;  // the same elements where the host can read them; NULL: only the device has them
};

/** Where a run's outputs go. */
class GroupOutputs {
 public:
  virtual ~GroupOutputs() = default;
  /** The memory for output i: exactly its elements, at least 4 bytes of buffer where it has none. It may be that of an
   *  input: results are right all the same. */
  virtual BufferRange make(size_t i, ElementType type, const Shape& shape) = 0;
};

/** A launch of a run, and when the device did it. */
struct TimedLaunch {
  std::string node, op;  // empty where it is for none
  std::string kernel;
  LaunchTime time;
};

/** What the work in a queue uses beside its inputs and outputs. Goes with the queue, and ends after it. */
class WorkingMemory {
 public:
  explicit WorkingMemory(Device& device) : device_(device) {}
  /** Memory that launches use between them; it grows. */
  BufferRange of(size_t bytes);
  /** Keeps what queued work reads until the queue is known to be done with it. */
  void keep(Queue& queue, std::shared_ptr<const void> what);
  /** Where a run's word of errors is read to; `texts` says what its bits mean. */
  uint32_t* report(Queue& queue, std::shared_ptr<const std::vector<std::string>> texts);
  /** To be called when the queue has finished. Throws kInvalid where kernels met an error since the last call, such as
   *  an index outside of its axis; what such a run gave is not to be used. */
  void check();
  /** Whether runs are timed from now on. */
  void take_times(bool wanted) { takes_times_ = wanted; }
  bool takes_times() const { return takes_times_; }
  /** Times of a run, whose launches are those of `what`. */
  void keep_times(std::shared_ptr<LaunchTimes> times, std::shared_ptr<const std::vector<TimedLaunch>> what);
  /** To be called when the queue has finished: what was timed since the last call. */
  std::vector<TimedLaunch> timed();

 private:
  struct Report {
    std::shared_ptr<const std::vector<std::string>> texts;
    uint32_t word = 0;
  };
  void settle();

  Device& device_;
  std::unique_ptr<Buffer> buffer_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::array<Report, 16> reports_;
  size_t reported_ = 0;
  std::string failure_;  // the first since the last check
  bool takes_times_ = false;
  std::vector<std::pair<std::shared_ptr<LaunchTimes>, std::shared_ptr<const std::vector<TimedLaunch>>>> times_;
};

class OutputPlaces;

/** Thread-safe. The engine must outlive it. */
class CompiledGroup {
 public:
  /** Takes the graph, whose constants need not live longer than the call. Records at once where all shapes are known;
   * else keeps copies of constants that have no owner. `progress` hears of recordings and must outlive it. */
  CompiledGroup(Engine& engine, Graph graph, Progress* progress = nullptr);
  ~CompiledGroup();

  const Graph& graph() const { return graph_; }
  /** The inputs whose elements the host needs before each run: it waits for the queue where `GroupInput::host` is NULL.
   */
  std::span<const int> read_positions() const { return read_; }
  /** Queues a run. `inputs` are those of the graph, without its constants. */
  void run(Queue& queue, WorkingMemory& working, std::span<const GroupInput> inputs, GroupOutputs& outputs);
  /** Recordings made so far, and launches of the last one: for tests and reports. */
  size_t recordings() const { return recordings_; }
  size_t launches() const { return launches_; }

 private:
  struct Plan;
  struct Key {
    std::vector<Shape> shapes;
    std::vector<std::vector<std::byte>> read;  // the elements of the inputs that the host must know
    bool in_place = false;                     // outputs that may overwrite inputs have their memory
  };
  Key key_of(Queue& queue, std::span<const GroupInput> inputs) const;
  std::shared_ptr<Plan> plan_for(const Key& key);
  std::shared_ptr<Plan> plan_for_run(Key& key, GroupOutputs& outputs, OutputPlaces& places);
  bool serves(const Key& recorded, const Plan& plan, const Key& wanted) const;
  std::shared_ptr<Plan> record(const Key& key);
  void note_good_for(const std::vector<TensorState>& tensors, Plan& plan) const;
  void record_outputs(Recording& recording, std::vector<TensorState>& tensors, Plan& plan);
  bool has_static_shapes() const;
  bool record_for_good();

  Engine& engine_;
  Progress* const progress_;
  Graph graph_;
  std::vector<int> read_;     // positions among the graph's inputs
  std::vector<int> readers_;  // of each value's elements
  std::mutex mutex_;
  PackedConstants packed_;
  std::list<std::pair<Key, std::shared_ptr<Plan>>> plans_;  // the last used first
  bool in_place_ = false;                                   // of the last run
  bool is_recorded_ = false;                                // for all runs to come
  size_t recordings_ = 0, launches_ = 0;
};

}  // namespace ortolan::gpu
