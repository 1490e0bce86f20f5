// What a profile says of one execution of a node beside its time.
#include "runtime/execution/node_report.h"

#include <cctype>
#include <cstdint>

#include "ops/work.h"
#include "runtime/execution/frame.h"

namespace ortolan::runtime {
namespace {

using Tensors = InlinedVector<const Tensor*, 8>;

/** "MaxPool" as "max_pool", "LSTM" as "lstm", "ReduceL2" as "reduce_l2". */
std::string snake_case(std::string_view name) {
  auto upper = [name](size_t i) { return i < name.size() && std::isupper(static_cast<unsigned char>(name[i])) != 0; };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    bool starts_word = i > 0 && upper(i) && (!upper(i - 1) || (i + 1 < name.size() && !upper(i + 1)));
    if (starts_word && out.back() != '_') out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

/** True where the first output is the first input's memory, so that nothing was computed. */
bool is_view(const StepContext& context, const Tensors& inputs, const Tensors& outputs) {
  if (context.step().reuse != Reuse::kView || inputs.empty() || outputs.empty()) return false;
  return inputs[0] != nullptr && outputs[0] != nullptr && inputs[0]->raw() == outputs[0]->raw();
}

size_t bytes_in(const Tensors& tensors) {
  size_t bytes = 0;
  for (const Tensor* tensor : tensors) bytes += tensor != nullptr ? tensor->byte_count() : 0;
  return bytes;
}

/** [{"float":[1,3]},{"int64":[]}] */
std::string shapes_json(const Tensors& tensors) {
  std::string text = "[";
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr) continue;
    text += join(text.size() > 1 ? "," : "", "{\"", name_of(tensor->type()), "\":[");
    for (size_t i = 0; i < tensor->rank(); ++i) text += join(i > 0 ? "," : "", tensor->shape()[i]);
    text += "]}";
  }
  return text + "]";
}

size_t constant_bytes(const StepContext& context, const Tensors& inputs) {
  size_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo* value = context.node().input(i);
    if (inputs[i] != nullptr && value != nullptr && value->is_fixed()) bytes += inputs[i]->byte_count();
  }
  return bytes;
}

void add_kernel(const StepContext& context, bool view, NodeReport& report) {
  KernelReport kernel = context.step().kernel->report(context);
  std::string name = kernel.kernel.empty() ? snake_case(context.node().op_type) : std::move(kernel.kernel);
  report.args.emplace_back("kernel", view ? name + ", a view" : name);
  std::string_view isa = kernel.isa.empty() ? context.step().instruction_set : kernel.isa;
  if (!isa.empty() && !view) report.args.emplace_back("isa", isa);
}

}  // namespace

NodeReport report_of(const StepContext& context) {
  auto if_defined = [](const Tensor* tensor) { return tensor != nullptr && tensor->defined() ? tensor : nullptr; };
  Tensors inputs, outputs;
  for (size_t i = 0; i < context.input_count(); ++i) inputs.push_back(if_defined(context.input_if(i)));
  for (size_t i = 0; i < context.output_count(); ++i) {
    outputs.push_back(context.has_output(i) ? if_defined(context.output_value(i).tensor_if()) : nullptr);
  }
  bool view = is_view(context, inputs, outputs);
  NodeReport report;
  add_kernel(context, view, report);
  ops::Work work = ops::work_of(context.node(), {inputs.data(), inputs.size()}, {outputs.data(), outputs.size()});
  if (work.flops) report.args.emplace_back("flops", join(view ? 0 : *work.flops));
  report.args.emplace_back("bytes", join(view ? 0 : work.bytes));
  size_t constant = constant_bytes(context, inputs);
  report.args.emplace_back("parameter_size", join(constant));
  report.args.emplace_back("activation_size", join(bytes_in(inputs) - constant));
  report.args.emplace_back("output_size", join(bytes_in(outputs)));
  report.json_args.emplace_back("input_type_shape", shapes_json(inputs));
  report.json_args.emplace_back("output_type_shape", shapes_json(outputs));
  return report;
}

}  // namespace ortolan::runtime
