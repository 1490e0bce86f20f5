// Sessions and runs in several threads.
#include <thread>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

constexpr int kThreads = 4;

GraphText mixed() {
  GraphText graph;
  graph.input("x", {-1}).output("z", {-1}).weights("w", {1}, {3});
  graph.node("Mul", {"x", "w"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "x"}, {"z"});
  return graph;
}

Array wanted(const Array& x) { return add(negate(multiply(x, {{1}, {3}})), x); }

/** Calls the body in threads; throws the first thing that went wrong in one. */
template <class Body>
void in_threads(Body&& body) {
  std::string wrong[kThreads];
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; number++) {
    threads.emplace_back([&, number] {
      try {
        body(number);
      } catch (const Mismatch& mismatch) {
        wrong[number] = mismatch.text;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) expect(text.empty(), text);
}

void check_one(Suite& suite, Runtime& runtime, const char* provider, uint32_t since) {
  std::string title = provider == std::string(kCompileProvider) ? "threads of groups: " : "threads of kernels: ";
  suite.check(title + "one session runs in several", since, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    Handle<OrtSession> session = runtime.session(mixed(), options.get());
    in_threads([&](int number) {
      for (int i = 0; i < 50; i++) {
        Array x = ramp({1 + (i + number) % 5}, static_cast<float>(i));
        expect_near(runtime.run(session.get(), {{"x", x}}, {"z"})[0], wanted(x), "z");
      }
    });
  });
  suite.check(title + "sessions are made in several", since, [&] {
    in_threads([&](int number) {
      for (int i = 0; i < 5; i++) {
        Handle<OrtSessionOptions> options = runtime.options_with(provider);
        Handle<OrtSession> session = runtime.session(mixed(), options.get());
        Array x = ramp({3}, static_cast<float>(number));
        expect_near(runtime.run(session.get(), {{"x", x}}, {"z"})[0], wanted(x), "z");
      }
    });
  });
}

}  // namespace

void check_concurrency(Suite& suite, Runtime& runtime) {
  check_one(suite, runtime, kCompileProvider, 23);
  check_one(suite, runtime, kKernelProvider, 24);
  suite.check("sessions: all that they made is gone with them", 23, [&] {
    expect_equal(runtime.live(Live::kProvider), 0, "providers");
    expect_equal(runtime.live(Live::kStream), 0, "streams");
    expect_equal(runtime.live(Live::kState), 0, "states");
    expect_equal(runtime.live(Live::kKernel), 0, "kernels");
    expect_equal(runtime.live(Live::kDeviceBlock), 0, "blocks on the device");
  });
}

}  // namespace ortolan::plugin_test
