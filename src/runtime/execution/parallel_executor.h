// Running the steps of a graph at the same time where they do not depend on each other.
#pragma once

#include "base/threads/thread_pool.h"
#include "runtime/execution/frame.h"

namespace ortolan::runtime {

/** Runs all steps of the frame, each as soon as its inputs are there, on the caller and on workers of `threads`. The
    first error is rethrown once all running steps are done. */
void run_in_parallel(Frame& frame, ThreadPool& threads);

}  // namespace ortolan::runtime
