// A small model in sessions with providers on made-up devices, and its right results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../thrown_text.h"
#include "fake_provider.h"
#include "model_builder.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {

inline constexpr int64_t kWidth = 6;

class Messages final : public LogSink {
 public:
  void write(Severity severity, std::string_view, std::string_view, std::string_view text) override {
    std::lock_guard lock(mutex_);
    if (severity >= Severity::kWarning) texts_.emplace_back(text);
  }
  bool has(const std::string& part) const {
    return std::ranges::any_of(texts_, [&](const auto& text) { return text.find(part) != std::string::npos; });
  }
  std::string all() const {
    std::string joined;
    for (const auto& text : texts_) joined += text + "\n";
    return joined;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

/** y = tanh(x * a + b) * x + tanh(x), with the values in between also read twice, in nodes m s t p u y. */
inline std::unique_ptr<Model> small_model(bool known = false) {
  Builder build;
  SymbolicShape rows = known ? SymbolicShape(Shape{2, kWidth})
                             : SymbolicShape(DimVector{build.model->context->symbols.named("N"), Dim(kWidth)});
  ValueInfo* x = build.input("x", rows);
  ValueInfo* a = build.graph().add_initializer("a", scalar<float>(0.75f));
  ValueInfo* b = build.graph().add_initializer("b", scalar<float>(-0.25f));
  ValueInfo* m = build.node("Mul", {x, a}, "m");
  ValueInfo* s = build.node("Add", {m, b}, "s");
  ValueInfo* t = build.node("Tanh", {s}, "t");
  ValueInfo* p = build.node("Mul", {t, x}, "p");
  ValueInfo* u = build.node("Tanh", {x}, "u");
  build.graph().mark_output(build.node("Add", {p, u}, "y"));
  build.graph().mark_output(s);
  return std::move(build.model);
}

inline double expected(double x) { return std::tanh(x * 0.75 - 0.25) * x + std::tanh(x); }

inline Tensor ramp(int64_t rows) {
  Tensor tensor(ElementType::kFloat, Shape{rows, kWidth});
  for (int64_t i = 0; i < rows * kWidth; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i % 17) / 5 - 1;
  return tensor;
}

inline std::vector<Value> run(const Session& session, const Value& x, std::vector<const char*> outputs = {"y", "s"}) {
  const Value* values[] = {&x};
  const char* in[] = {"x"};
  std::vector<Value> results(outputs.size());
  session.run(nullptr, in, values, outputs, results);
  return results;
}

inline void expect_right(const Session& session, int64_t rows) {
  Tensor x = ramp(rows);
  auto results = run(session, x);
  const Tensor &y = results[0].tensor(), &s = results[1].tensor();
  ASSERT_TRUE(y.memory().on_cpu());
  for (int64_t i = 0; i < rows * kWidth; ++i) {
    double value = x.data<float>()[i];
    ASSERT_NEAR(y.data<float>()[i], expected(value), 1e-5) << "element " << i;
    ASSERT_NEAR(s.data<float>()[i], value * 0.75 - 0.25, 1e-6) << "element " << i;
  }
}

struct Fakes {
  SessionOptions options;
  std::shared_ptr<Messages> messages = std::make_shared<Messages>();
  Fakes() { options.level = RewriteLevel::kNone; }
  void add(std::shared_ptr<FakeSettings> settings, bool required = true) {
    options.providers.push_back({settings->type, {}, fake_factory(settings), required});
  }
  std::unique_ptr<Session> session(std::unique_ptr<Model> model = small_model()) {
    return Session::from_model(environment(messages), std::move(model), options);
  }
  std::string error() {
    return test::error_of([&] { session(); });
  }
};

inline std::shared_ptr<FakeSettings> settings(bool compile, bool streams = false) {
  auto made = std::make_shared<FakeSettings>();
  made->compile = compile;
  made->streams = streams;
  return made;
}

inline std::function<int(const Node&)> only(std::set<std::string> names) {
  return [names](const Node& node) { return names.contains(node.name) ? 0 : -1; };
}

}  // namespace ortolan::runtime
