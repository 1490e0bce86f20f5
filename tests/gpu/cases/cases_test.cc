// Every node that the operator tests ran on the CPU runs on test devices that take it, its inputs fed and as constants,
// and so do nodes with a few things changed: where the CPU has a result the device has the same, and whatever is fed,
// a device reads and writes nothing but its tensors. ORTOLAN_HOSTILE_SECONDS makes it a soak.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "gpu/core/elements/elementwise.h"
#include "gpu/testdevice/test_device.h"
#include "node_case.h"
#include "ops/hostile_mutation.h"
#include "ops/node_model.h"

namespace ortolan::gpu::test {
namespace {

using ortolan::test::describe;
using ortolan::test::HostileNode;
using ortolan::test::HostileTurns;
using ortolan::test::Value;
using ortolan::test::Way;
constexpr int64_t kMostElements = 1 << 16;  // of a case that is tried
constexpr int64_t kMostVaried = 4096;       // of one that is varied
constexpr size_t kCasesKept = 12;           // of one operator, to be varied

int64_t size_of(const ortolan::test::NodeCase& node) {
  int64_t count = 0;
  for (const auto& input : node.inputs) count += input && input->is_tensor() ? input->tensor().element_count() : 0;
  return count;
}

/** The test devices in turn. */
Device& next_device() {
  static size_t turn = 0;
  const std::vector<NamedDevice>& devices = all_devices();
  for (;;) {
    const NamedDevice& next = devices[turn++ % devices.size()];
    if (next.name.starts_with("test_")) return *next.device;
  }
}

ortolan::test::SessionOptions plain_options() {
  ortolan::test::SessionOptions options;
  options.level = ortolan::test::RewriteLevel::kNone;
  options.intra_op_threads = 1;
  options.config["ortolan.max_tensor_bytes"] = "16777216";
  return options;
}

/** The CPU's results, as exact as it has them; nothing where it has an error. */
std::optional<std::vector<Value>> on_cpu(HostileNode hostile) {
  std::erase_if(hostile.node.attributes, [](const auto& attribute) { return attribute.name == "accuracy_level"; });
  try {
    return run_node(hostile.node, Way::kKnownShapes, hostile.output_count, plain_options());
  } catch (const base::Error&) {
    return {};
  }
}

::testing::AssertionResult is_near(const Value& device, const Value& cpu) {
  ::testing::AssertionResult same = ortolan::test::same_value(device, cpu);
  auto type = cpu.tensor().type();
  if (same || type != device.tensor().type() || !tensor::kFloatTypes.contains(type)) return same;
  double tolerance = type == tensor::ElementType::kFloat16 ? 2e-2 : 1e-4;
  return ortolan::test::near(device.tensor(), cpu.tensor().shape(), ortolan::test::doubles(cpu.tensor()), tolerance);
}

Value value_of(const Tensor& from) {
  tensor::Tensor tensor(static_cast<tensor::ElementType>(from.type),
                        tensor::Shape(from.shape.begin(), from.shape.end()));
  if (!from.bytes.empty()) std::memcpy(tensor.mutable_raw(), from.bytes.data(), from.bytes.size());
  return Value(tensor);
}

struct Counts {
  int64_t tried = 0, taken = 0;
};

class DeviceCases {
 public:
  /** Tries the node on a device. */
  void try_case(const HostileNode& hostile, const std::optional<std::vector<Value>>& wanted) {
    for (bool constants : {false, true}) {
      std::optional<DeviceCase> found = device_case(hostile.node, constants);
      counts_.tried++;
      if (!found) return;
      Device& device = next_device();
      counts_.taken += try_on(device, hostile, *found, wanted);
    }
  }
  const Counts& counts() const { return counts_; }

 private:
  /** Whether the device takes the node. */
  bool try_on(Device& device, const HostileNode& hostile, const DeviceCase& node,
              const std::optional<std::vector<Value>>& wanted) {
    try {
      if (!refusal_of(device, node.node, node.inputs, hostile.output_count).empty()) return false;
      std::vector<Tensor> results = run_node(device, node.node, node.inputs, hostile.output_count);
      if (wanted && hostile.deterministic) compare(device, hostile, results, *wanted);
    } catch (const Error& error) {
      bool is_lack = error.kind() == ErrorKind::kOutOfMemory;
      EXPECT_TRUE(is_lack || error.kind() == ErrorKind::kInvalid) << error.what() << "\n" << describe(hostile);
      EXPECT_FALSE(wanted) << error.what() << "\n" << device.traits().name << ": " << describe(hostile);
    }
    return true;
  }
  static void compare(Device& device, const HostileNode& hostile, const std::vector<Tensor>& results,
                      const std::vector<Value>& wanted) {
    for (size_t i = 0; i < results.size(); i++) {
      ASSERT_NE(results[i].type, ElementType::kUndefined) << "no output " << i << "\n" << describe(hostile);
      EXPECT_TRUE(is_near(value_of(results[i]), wanted[i])) << "output " << i << ", other on the CPU\n"
                                                            << device.traits().name << ": " << describe(hostile);
    }
  }

  Counts counts_;
};

bool is_moderate(const Value& value, double most) {
  if (!value.is_tensor() || !(tensor::kNumericTypes.contains(value.tensor().type()))) return true;
  return std::ranges::all_of(ortolan::test::doubles(value.tensor()),
                             [most](double element) { return std::fabs(element) < most; });
}

/** Places far outside of an image are folded in float, where the CPU has double. */
bool folds_far_places(const HostileNode& hostile) {
  return hostile.node.op == "GridSample" && hostile.node.inputs[1] && !is_moderate(*hostile.node.inputs[1], 1e6);
}

/** Sums and products of extreme numbers depend on their order. */
bool is_well_conditioned(const HostileNode& hostile, const std::vector<Value>& results) {
  constexpr double kMost = 1e5;
  if (find_elementwise_row(hostile.node.op, false) != nullptr) return true;
  for (const graph::Attribute& attribute : hostile.node.attributes) {
    const float* number = std::get_if<float>(&attribute.value);
    if (number != nullptr && !(std::fabs(*number) < kMost)) return false;
  }
  auto moderate = [](const auto& input) { return !input || is_moderate(*input, kMost); };
  return std::ranges::all_of(hostile.node.inputs, moderate) &&
         std::ranges::all_of(results, [](const Value& value) { return is_moderate(value, kMost); });
}

/** Whether a session with the node gets as far as asking providers. */
bool is_asked(const HostileNode& hostile) {
  bool internal = std::ranges::any_of(hostile.node.attributes,
                                      [](const auto& attribute) { return attribute.name.starts_with("ortolan."); });
  if (internal) return false;
  try {
    runtime::Session::from_model(
        std::make_shared<runtime::Environment>(runtime::Logger(runtime::stderr_sink(), "", runtime::Severity::kFatal)),
        model_of(hostile.node, Way::kUnknownShapes, hostile.output_count), plain_options());
    return true;
  } catch (const base::Error&) {
    return false;
  }
}

class Environment : public ::testing::Environment {
 public:
  void SetUp() override {
    ortolan::test::set_case_observer([this](const ortolan::test::NodeCase& node, size_t outputs, bool deterministic) {
      if (size_of(node) > kMostElements) return;
      HostileNode hostile{node, outputs, deterministic};
      hostile.deterministic &= !folds_far_places(hostile);
      cases_.try_case(hostile, on_cpu(hostile));
      keep(hostile);
    });
  }

  void TearDown() override {
    ortolan::test::set_case_observer({});
    report("cases", cases_.counts());
    DeviceCases varied;
    std::vector<const std::vector<HostileNode>*> kept;
    for (const auto& [name, cases] : kept_) kept.push_back(&cases);
    uint32_t seed = ortolan::test::test_seed();
    HostileTurns turns(6000);
    for (size_t turn = 0; !kept.empty() && turns.next(); turn++) {
      const std::vector<HostileNode>& cases = *kept[turn % kept.size()];
      ++seed;
      HostileNode hostile = mutated(cases[seed % cases.size()], seed);
      if (!is_asked(hostile)) continue;
      std::optional<std::vector<Value>> wanted = on_cpu(hostile);
      hostile.deterministic &= wanted && is_well_conditioned(hostile, *wanted) && !folds_far_places(hostile);
      varied.try_case(hostile, wanted);
    }
    report("varied cases", varied.counts());
  }

 private:
  void keep(const HostileNode& hostile) {
    if (size_of(hostile.node) > kMostVaried || !device_case(hostile.node, false)) return;
    const Node node{{}, hostile.node.domain, hostile.node.op, hostile.node.opset, {}, {}, {}, {}};
    if (find_operator(node) == nullptr) return;
    auto& cases = kept_[hostile.node.domain + ":" + hostile.node.op];
    if (cases.size() < kCasesKept) return cases.push_back(hostile);
    cases[seen_++ % kCasesKept] = hostile;
  }
  static void report(const char* kind, const Counts& counts) {
    std::printf("%ld of %ld %s were taken\n", static_cast<long>(counts.taken), static_cast<long>(counts.tried), kind);
  }

  DeviceCases cases_;
  std::map<std::string, std::vector<HostileNode>> kept_;
  size_t seen_ = 0;
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new Environment);

}  // namespace
}  // namespace ortolan::gpu::test
