// JointWalks: one step of several walks.
#include "cpu/recurrent/joint_walks.h"

#include <algorithm>
#include <utility>

namespace ortolan::cpu {
namespace {

kernels::CellRow next_row(const JointWalks::Walk& walk) {
  return {walk.gates + walk.step() * walk.gates_stride, walk.h, walk.next_h, walk.hidden_bias, walk.c, walk.c};
}

void keep_state(JointWalks::Walk& walk, int64_t hidden) {
  std::swap(walk.h, walk.next_h);
  if (walk.y != nullptr) std::copy_n(walk.h, hidden, walk.y + walk.step() * walk.y_stride);
}

}  // namespace

void JointWalks::take_step(std::span<Member* const> members, bool odd) noexcept {
  std::array<kernels::CellRow, kMostMembers> rows{};
  for (size_t i = 0; i < members.size(); ++i) rows[i] = next_row(static_cast<const Walk&>(*members[i]));
  kernels::cell_rows(*cell_, rows.data(), static_cast<int>(members.size()), odd);
  for (Member* const member : members) keep_state(static_cast<Walk&>(*member), cell_->hidden());
}

}  // namespace ortolan::cpu
