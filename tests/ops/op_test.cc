// Runs one node as a model of its own.
#include "op_test.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../thrown_text.h"
#include "node_model.h"
#include "runtime/resolve.h"

namespace ortolan::test {
namespace {

std::shared_ptr<Environment> environment() {
  static auto& shared = *new std::shared_ptr<Environment>(
      std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning)));
  return shared;
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return false;
  if (a.type() == ElementType::kString) {
    return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  }
  if (is_packed(a.type())) {  // bits behind the last element mean nothing
    for (int64_t i = 0; i < a.element_count(); ++i) {
      if (unpack_element(a.type(), a.raw(), i) != unpack_element(b.type(), b.raw(), i)) return false;
    }
    return true;
  }
  size_t bytes = a.byte_count();
  if (bytes == 0 || std::memcmp(a.raw(), b.raw(), bytes) == 0) return true;
  if (!(kFloatTypes.contains(a.type()))) return false;
  auto x = doubles(a), y = doubles(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])))) return false;
  }
  return true;
}

auto& case_observer() {
  static auto& observer = *new std::function<void(const NodeCase&, size_t, bool)>;
  return observer;
}

}  // namespace

void set_case_observer(std::function<void(const NodeCase&, size_t, bool)> observer) {
  case_observer() = std::move(observer);
}

std::vector<Value> run_node(const NodeCase& node, Way way, size_t output_count, const SessionOptions& options,
                            RunOptions* run_options, std::shared_ptr<Environment> in) {
  auto session = Session::from_model(in ? std::move(in) : environment(), model_of(node, way, output_count), options);
  std::vector<std::string> input_names, wanted_names;
  std::vector<const Value*> values;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    bool constant = way == Way::kConstants && node.inputs[i] && node.inputs[i]->is_tensor();
    if (!node.inputs[i] || constant) continue;
    input_names.push_back(join("x", i));
    values.push_back(&*node.inputs[i]);
  }
  for (size_t i = 0; i < output_count; ++i) wanted_names.push_back(join("y", i));
  std::vector<const char*> names, wanted;
  for (const std::string& name : input_names) names.push_back(name.c_str());
  for (const std::string& name : wanted_names) wanted.push_back(name.c_str());
  std::vector<Value> results(output_count);
  session->run(run_options, names, values, wanted, results);
  return results;
}

std::vector<Value> OpTest::run(size_t output_count) const {
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  auto results = run_node(node_, Way::kKnownShapes, output_count, options);
  if (case_observer()) case_observer()(node_, output_count, !once_);
  if (once_) return results;
  for (Way way : {Way::kUnknownShapes, Way::kConstants}) {
    auto again = run_node(node_, way, output_count, options);
    for (size_t i = 0; i < output_count; ++i) {
      EXPECT_TRUE(same_value(again[i], results[i])) << node_.op << " output " << i << ", way " << static_cast<int>(way);
    }
  }
  return results;
}

std::string OpTest::error(size_t output_count) const {
  return error_of([&] { run(output_count); });
}

std::string describe(const Value& value) {
  if (!value.is_tensor()) return join(type_of(value));
  std::string text = join(type_of(value), value.tensor().shape(), " {");
  if (kNumericTypes.contains(value.tensor().type()) || value.tensor().type() == ElementType::kBool) {
    size_t shown = 0;
    for (double x : doubles(value.tensor())) {
      if (++shown > 16) break;
      base::append(text, join(" ", x));
    }
  }
  return text + " }";
}

::testing::AssertionResult same_value(const Value& a, const Value& b) {
  bool same = a.kind() == b.kind();
  if (same && a.is_tensor()) same = same_tensor(a.tensor(), b.tensor());
  if (same && a.kind() == ValueKind::kMap) {
    same = same_tensor(a.map().keys.tensor(), b.map().keys.tensor()) &&
           same_tensor(a.map().values.tensor(), b.map().values.tensor());
  }
  if (same && a.kind() == ValueKind::kSequence) {
    const auto &x = a.sequence().items(), &y = b.sequence().items();
    same = x.size() == y.size();
    for (size_t i = 0; same && i < x.size(); ++i) same = static_cast<bool>(same_value(x[i], y[i]));
  }
  if (same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << describe(a) << " is not " << describe(b);
}

::testing::AssertionResult near(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
                                double tolerance) {
  if (!(actual.shape() == shape)) {
    return ::testing::AssertionFailure() << "shape is " << join(actual.shape()) << ", not " << join(shape);
  }
  auto values = doubles(actual);
  if (values.size() != expected.size()) {
    return ::testing::AssertionFailure() << "has " << values.size() << " elements, expected " << expected.size();
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    double x = values[i], y = expected[i];
    bool good =
        x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y));
    if (!good) return ::testing::AssertionFailure() << "element " << i << " is " << x << ", not " << y;
  }
  return ::testing::AssertionSuccess();
}

std::vector<double> doubles(const Tensor& tensor) {
  std::vector<double> values;
  dispatch<kNumericTypes | ElementType::kBool>(tensor.type(), [&]<class T>(TypeTag<T>) {
    for (const T& value : tensor.span<T>()) {
      if constexpr (std::is_arithmetic_v<T>) {
        values.push_back(static_cast<double>(value));
      } else {
        values.push_back(static_cast<double>(static_cast<float>(value)));
      }
    }
  });
  return values;
}

uint32_t test_seed() {
  static const uint32_t seed = [] {
    const char* text = std::getenv("ORTOLAN_TEST_SEED");
    auto value = text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : std::random_device{}();
    std::printf("ORTOLAN_TEST_SEED=%u\n", value);
    return value;
  }();
  return seed;
}

}  // namespace ortolan::test
