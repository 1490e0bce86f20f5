// JointWork: who leads, who waits, and who is told what.
#include "base/threads/joint_work.h"

#include <algorithm>

#include "base/threads/futex.h"
#include "base/threads/processor_count.h"
#include "base/threads/run_scope.h"

namespace ortolan::base {
namespace {

enum Told : uint32_t { kNothing, kToLead, kOver };

}  // namespace

JointWork::Member::Member(int64_t steps)
    : steps_(steps), terminate_(run_scope().terminate), denormals_are_zero_(denormals_are_zero()), group_{{this}, 1} {}

bool JointWork::Member::is_over() noexcept {
  stopped_ = stopped_ || terminate_asked(terminate_);
  return stopped_ || step_ == steps_;
}

/** The member may be gone as soon as it is told. To wake a thread takes the address alone. */
void JointWork::tell(Member& member, uint32_t what) noexcept {
  awake_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<uint32_t>& told = member.told_;
  told.store(what, std::memory_order_release);
  futex_wake(told, 1);
}

void JointWork::await(Member& own) noexcept {
  while (own.told_.load(std::memory_order_acquire) == kNothing) futex_wait(own.told_, kNothing);
}

/** Else the member waits, and will be told. */
bool JointWork::become_leader(Member& own) {
  const std::lock_guard lock(mutex_);
  if (leaders_ == 0 || awake_.load(std::memory_order_relaxed) <= processors_at_once()) {
    ++leaders_;
    return true;
  }
  waiting_.push_back(&own);
  count_waiting();
  awake_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

/** With the lock held. */
void JointWork::count_waiting() noexcept {
  waiting_count_.store(static_cast<int>(waiting_.size()), std::memory_order_relaxed);
}

/** With the lock held, where somebody waits. */
JointWork::Member& JointWork::next_waiting() noexcept {
  Member& next = *waiting_.front();
  waiting_.pop_front();
  count_waiting();
  return next;
}

/** With the lock held: those that wait lead where there are processors for them. */
void JointWork::wake_leaders() {
  while (!waiting_.empty() && awake_.load(std::memory_order_relaxed) < processors_at_once()) {
    ++leaders_;
    tell(next_waiting(), kToLead);
  }
}

/** Those that wait join the group as far as there is room, in their order. One whose thread computes otherwise keeps
    its place and everybody behind it, until a group is empty. */
void JointWork::admit(Group& group) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // after two more steps
  std::erase_if(waiting_, [this](Member* member) {
    const bool is_over = member->is_over();
    if (is_over) tell(*member, kOver);
    return is_over;
  });
  count_waiting();
  while (!waiting_.empty() && group.count < most_ &&
         waiting_.front()->denormals_are_zero_ == group.members[0]->denormals_are_zero_) {
    group.members[group.count++] = &next_waiting();
  }
  wake_leaders();
}

/** `own` is the calling thread's, which needs not be told. */
void JointWork::take_group_step(Group& group, const Member& own) noexcept {
  take_step({group.members.data(), static_cast<size_t>(group.count)}, group.odd);
  group.odd = !group.odd;
  int left = 0;
  for (int i = 0; i < group.count; ++i) {
    Member& member = *group.members[i];
    ++member.step_;
    if (!member.is_over()) {
      group.members[left++] = &member;
    } else if (&member != &own) {
      tell(member, kOver);
    }
  }
  group.count = left;
}

/** Somebody else leads the group on, or one that waits leads a new one. */
void JointWork::leave(const Group& group) {
  if (group.count > 0) {
    Member& next = *group.members[0];
    next.group_ = group;
    return tell(next, kToLead);
  }
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    --leaders_;
  } else {
    tell(next_waiting(), kToLead);
  }
}

void JointWork::lead(Member& own) {
  Group group = own.group_;
  while (!own.is_over()) {
    if (!group.odd && waiting_count_.load(std::memory_order_relaxed) > 0) admit(group);
    take_group_step(group, own);
  }
  const auto members = group.members.begin();
  group.count = static_cast<int>(std::remove(members, members + group.count, &own) - members);
  leave(group);
}

void JointWork::work_alone(Member& own) {
  while (!own.is_over()) take_group_step(own.group_, own);
}

void JointWork::do_steps(Member& own) {
  if (count_forks() != made_after_forks_) {
    work_alone(own);
  } else if (become_leader(own)) {
    lead(own);
  } else {
    await(own);
    if (own.told_.load(std::memory_order_relaxed) == kToLead) lead(own);
  }
  if (own.stopped_) fail_terminated();
}

}  // namespace ortolan::base
