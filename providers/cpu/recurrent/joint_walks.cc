// JointWalks: one step of several walks.
#include "cpu/recurrent/joint_walks.h"

#include <algorithm>
#include <utility>

namespace ortolan::cpu {
namespace {

void move_on(JointWalks::Walk& walk, int64_t hidden) {
  std::swap(walk.h, walk.next_h);
  walk.gates += walk.gates_stride;
  if (walk.y == nullptr) return;
  std::copy_n(walk.h, hidden, walk.y);
  walk.y += walk.y_stride;
}

}  // namespace

void JointWalks::take_step(std::span<Member* const> members, bool odd) noexcept {
  std::array<kernels::CellRow, kMostMembers> rows{};
  for (size_t i = 0; i < members.size(); ++i) {
    const Walk& walk = static_cast<const Walk&>(*members[i]);
    rows[i] = {walk.gates, walk.h, walk.next_h, walk.hidden_bias, walk.c, walk.c};
  }
  kernels::cell_rows(*cell_, rows.data(), static_cast<int>(members.size()), odd);
  for (Member* const member : members) move_on(static_cast<Walk&>(*member), cell_->hidden());
}

}  // namespace ortolan::cpu
