// A program without exceptions: statuses are looked at where they come up, and what would throw ends the program.
#include <onnxruntime_cxx_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

extern "C" void on_abort(int) {
  static const char text[] = "aborted\n";
  std::_Exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 5);
}

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING);
  Ort::SessionOptions options;
  Ort::Session session(env, argv[1], options);

  OrtSession* raw = nullptr;
  const Ort::Status status{Ort::GetApi().CreateSession(env, argv[2], options, &raw)};
  if (status.IsOK() || status.GetErrorCode() != ORT_NO_SUCHFILE) return 3;
  std::printf("status: %s\n", status.GetErrorMessage().c_str());
  std::fflush(stdout);
  std::signal(SIGABRT, on_abort);
  Ort::Session other(env, argv[2], options);
  return 4;
}
