// Who is charged, and what is said where a run would hold too much.
#include "base/memory/memory_budget.h"

#include "base/error.h"
#include "base/threads/run_scope.h"

namespace ortolan::base {

void MemoryBudget::refuse(size_t bytes, size_t in_use) const {
  fail(ErrorCode::kFail, bytes, " bytes are needed beside the ", in_use, " that the run holds, more than the ", limit_,
       " that it may; use smaller inputs or ", remedy_);
}

void MemoryCharge::add(size_t bytes) {
  MemoryBudget* const budget = budget_ != nullptr ? budget_ : run_scope().memory;
  if (budget == nullptr || bytes == 0) return;
  budget->charge(bytes);
  budget_ = budget;
  bytes_ += bytes;
}

void count_long_string(size_t bytes) {
  if (StringTally* const tally = run_scope().strings) tally->add(bytes);
}

}  // namespace ortolan::base
