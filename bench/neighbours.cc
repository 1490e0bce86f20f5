// Forked processes that spin.
#include "neighbours.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>

namespace ortolan::bench {
namespace {

[[noreturn]] void compute_for_ever(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (volatile unsigned sum = 0;;) sum = sum + 1;
}

}  // namespace

Neighbours::Neighbours(int count) {
  const pid_t parent = getpid();
  for (int i = 0; i < count; ++i) {
    const pid_t process = fork();
    if (process == 0) compute_for_ever(parent);
    if (process < 0) {
      end();
      throw std::system_error(errno, std::generic_category(), "cannot start a neighbour process");
    }
    processes_.push_back(process);
  }
}

Neighbours::~Neighbours() { end(); }

void Neighbours::end() {
  for (pid_t process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  processes_.clear();
}

}  // namespace ortolan::bench
