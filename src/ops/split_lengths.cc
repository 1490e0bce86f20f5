// Into which lengths Split and SplitToSequence cut a dimension.
#include "ops/split_lengths.h"

#include "base/checked.h"

namespace ortolan::ops {
using namespace base;

std::vector<int64_t> split_lengths(int64_t dim, int64_t parts, std::optional<std::span<const int64_t>> given,
                                   bool uneven) {
  require(parts > 0, ErrorCode::kInvalidArgument, "cannot split into ", parts, " parts");
  if (given) {
    require(static_cast<int64_t>(given->size()) == parts, ErrorCode::kInvalidArgument, "split has ", given->size(),
            " lengths for ", parts, " outputs");
    int64_t sum = 0;
    for (int64_t length : *given) {
      require(length >= 0, ErrorCode::kInvalidArgument, "split holds the negative length ", length);
      sum = checked_add(sum, length);
    }
    require(sum == dim, ErrorCode::kInvalidArgument, "the lengths in split add up to ", sum,
            ", but the dimension to split is ", dim);
    return {given->begin(), given->end()};
  }
  require(uneven || dim % parts == 0, ErrorCode::kInvalidArgument, "dimension ", dim, " does not split into ", parts,
          " equal parts; give the lengths in split");
  int64_t piece = dim / parts + (dim % parts != 0);
  std::vector<int64_t> lengths;
  for (int64_t i = 0, left = dim; i < parts; ++i) {
    lengths.push_back(std::min(piece, left));
    left -= lengths.back();
  }
  return lengths;
}

}  // namespace ortolan::ops
