// Work of many short steps that threads have at the same time, and that takes one thread little longer for several of
// them than for itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "base/threads/forks.h"

namespace ortolan::base {

/**
 * Threads that lead each have a group, whose members' steps they do, one of each at a time. A thread leads where it
 * finds a processor for it; others sleep as members of these groups, or until there is room. Who leads leaves when its
 * own steps are over, and the member that has been there longest leads on. The same steps are done as if each thread
 * were alone.
 *
 * What is shared must not outlive a fork: in the copy of a process everybody works alone.
 */
class JointWork {
 public:
  static constexpr int kMostMembers = 8;

  /** The work of one thread, which `awake` counts. */
  class Member {
   public:
    /** `steps` at least 0. The run of the calling thread is the one that may be asked to stop. */
    explicit Member(int64_t steps);
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    /** The step that comes next. */
    int64_t step() const noexcept { return step_; }

   private:
    friend class JointWork;
    struct Group {
      std::array<Member*, kMostMembers> members;  // in the order in which they came
      int count = 0;
      bool odd = false;  // steps come next
    };
    bool is_over() noexcept;

    int64_t steps_, step_ = 0;
    const std::atomic<bool>* terminate_;
    bool stopped_ = false;
    const bool denormals_are_zero_;  // on its thread, and so on the one that leads it
    std::atomic<uint32_t> told_{0};
    Group group_;  // that it is to lead: at first itself
  };

  /** At most `members` in a group, from 1 to kMostMembers. `awake`, which outlives this, counts the threads that need a
      processor, before they come here and while they do not sleep. */
  JointWork(int members, std::atomic<int>& awake) : most_(members), awake_(awake) {}
  virtual ~JointWork() = default;
  JointWork(const JointWork&) = delete;
  JointWork& operator=(const JointWork&) = delete;

  /** Returns when the member's steps are done, by this thread or another. Throws where the run is asked to stop. Holds
      no lock and waits for no thread but those that lead, which wait for none. */
  void do_steps(Member& own);

 protected:
  /** One step of each member, on one of their threads. All have an odd number of steps behind them, or an even one. */
  virtual void take_step(std::span<Member* const> members, bool odd) noexcept = 0;

 private:
  using Group = Member::Group;
  bool become_leader(Member& own);
  void lead(Member& own);
  void take_group_step(Group& group, const Member& own) noexcept;
  void admit(Group& group);
  void leave(const Group& group);
  void work_alone(Member& own);
  void tell(Member& member, uint32_t what) noexcept;
  void wake_leaders();
  void count_waiting() noexcept;
  Member& next_waiting() noexcept;
  static void await(Member& own) noexcept;

  const int most_;
  std::atomic<int>& awake_;
  const uint32_t made_after_forks_ = count_forks();
  std::mutex mutex_;             // guards what follows
  std::deque<Member*> waiting_;  // in the order in which they came
  int leaders_ = 0;
  std::atomic<int> waiting_count_{0};  // written with the lock held
};

}  // namespace ortolan::base
