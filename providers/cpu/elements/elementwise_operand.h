// The operands of a chain of elementwise steps, as blocks of the output's elements see them.
#pragma once

#include <vector>

#include "cpu/elements/broadcast.h"

namespace ortolan::cpu {

/** Float tensors broadcast to one output, which is walked in blocks. */
class ElementwiseOperands {
 public:
  /** For at most `most` operands; blocks have at most `block` elements. */
  ElementwiseOperands(size_t most, int64_t block) : most_(most), block_(block) {}
  /** The shape must broadcast to the output's. */
  void add(const float* data, const Shape& shape, const Shape& output);
  size_t size() const { return operands_.size(); }
  /** True where the operand has one element for each of the output's, in the same order. */
  bool is_whole(size_t i) const { return operands_[i].kind == Kind::kWhole; }
  bool all_whole() const { return all_whole_; }

  /** Blocks must not cross a multiple of this many elements; INT64_MAX where they may. */
  int64_t row_length() const { return row_length_; }
  /** The floats of scratch memory that a thread needs for read(). */
  int64_t scratch_size() const { return scratch_size_; }
  /** Fills what is the same for all blocks. */
  void prepare(float* scratch) const;

  struct Span {
    const float* data;
    bool is_scalar;  // one element for the whole block
  };
  /** An operand for output elements [begin, begin + count). */
  Span read(size_t i, int64_t begin, int64_t count, float* scratch) const {
    const Operand& operand = operands_[i];
    if (operand.kind == Kind::kWhole) return {operand.data + begin, false};
    if (operand.kind == Kind::kScalar) return {operand.data, true};
    return read_broadcast(operand, begin, count, scratch + operand.scratch);
  }

 private:
  enum class Kind : uint8_t {
    kWhole,
    kScalar,
    kPeriodic,  // a short row that repeats, laid out several times in scratch memory
    kRows,      // long rows of contiguous elements, or of one repeated element
    kGathered,  // anything else, copied block by block
  };
  struct Operand {
    const float* data;
    Kind kind;
    const BroadcastPlan* plan;  // of kinds after kScalar
    int64_t scratch;            // where its scratch memory begins
  };
  void add_broadcast(Operand operand, const Shape& shape, const Shape& output);
  static Span read_broadcast(const Operand& operand, int64_t begin, int64_t count, float* scratch);

  size_t most_;
  int64_t block_;
  int64_t row_length_ = INT64_MAX;
  int64_t scratch_size_ = 0;
  bool all_whole_ = true;
  InlinedVector<Operand, 8> operands_;
  std::vector<BroadcastPlan> plans_;  // of the broadcast ones; room for all, since operands point to them
};

}  // namespace ortolan::cpu
