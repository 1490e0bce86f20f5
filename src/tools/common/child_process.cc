// fork, a pipe for the result, and a time limit.
#include "child_process.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "error.h"

namespace ortolan::tools {
namespace {

void write_all(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += size_t(written);
  }
}

// The first byte tells whether the work was done.
[[noreturn]] void be_child(const std::function<std::string()>& work, int file) {
  std::string message;
  try {
    message = '+' + work();
  } catch (const std::exception& error) {
    message = std::string("-") + error.what();
  }
  std::fflush(nullptr);
  write_all(file, message);
  _exit(0);
}

// Reads until the child closes its end; false when time is over.
bool read_all(int file, double seconds, std::string& text) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{file, POLLIN, 0};
    int ready = poll(&wait, 1, int(std::min<long long>(left, 1 << 30)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    char buffer[65536];
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, size_t(count));
  }
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work, double timeout_seconds) {
  int ends[2];
  if (pipe(ends)) fail("cannot make a pipe: ", std::strerror(errno));
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0) fail("cannot start a process: ", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    be_child(work, ends[1]);
  }
  close(ends[1]);
  ChildResult result;
  std::string message;
  bool in_time = read_all(ends[0], timeout_seconds, message);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.peak_kilobytes = usage.ru_maxrss;
  if (!in_time) {
    result.end = ChildResult::End::kTimedOut;
    result.text = join("no end after ", timeout_seconds, " s");
  } else if (WIFSIGNALED(status)) {
    result.end = ChildResult::End::kCrashed;
    result.text = strsignal(WTERMSIG(status));
  } else if (message.empty()) {
    result.end = ChildResult::End::kCrashed;
    result.text = join("ended with status ", WEXITSTATUS(status));
  } else {
    result.end = message[0] == '+' ? ChildResult::End::kDone : ChildResult::End::kFailed;
    result.text = message.substr(1);
  }
  return result;
}

}  // namespace ortolan::tools
