// Where launches write a run's outputs, some of which may be given memory that is an input's too.
#pragma once

#include <span>
#include <vector>

#include "gpu/core/group.h"

namespace ortolan::gpu {

/** For one run. */
class OutputPlaces {
 public:
  OutputPlaces(Device& device, std::span<const GroupInput> inputs) : device_(device), inputs_(inputs) {}
  /** The memory of the next output. */
  void add(const BufferRange& place) { places_.push_back(place); }
  /** Whether there are such outputs, and each has its input's memory, which no other input shares. */
  bool are_in_place(std::span<const Overwrite> overwrites) const;
  /** The places to write to: memory of its own for an output that would spoil an input, unless `in_place` says that the
   *  launches make the output from that input where it is. */
  std::span<const BufferRange> settle(std::span<const Overwrite> in_place);
  /** Queues the copies from such memory to where the outputs belong. */
  void deliver(Queue& queue);

 private:
  /** Inputs whose memory is an output's too. */
  int64_t inputs_beside(size_t output) const;

  Device& device_;
  std::span<const GroupInput> inputs_;
  std::vector<BufferRange> places_;
  struct Apart {
    BufferRange place;
    std::unique_ptr<Buffer> buffer;
  };
  std::vector<Apart> apart_;
};

}  // namespace ortolan::gpu
