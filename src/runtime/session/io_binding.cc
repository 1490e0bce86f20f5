// Inputs and outputs bound to a session once, for many runs.
#include "runtime/session/io_binding.h"

namespace ortolan::runtime {

void IoBinding::bind_input(const std::string& name, Value value) {
  require(session_.has_input(name), ErrorCode::kInvalidArgument, "cannot bind input '", name,
          "': the model has no input of that name");
  auto [found, added] = input_places_.emplace(name, inputs_.size());
  if (!added) {
    inputs_[found->second] = std::move(value);
    return;
  }
  input_names_.push_back(name);
  inputs_.push_back(std::move(value));
}

size_t IoBinding::output_index(const std::string& name) {
  require(session_.has_output(name), ErrorCode::kInvalidArgument, "cannot bind output '", name,
          "': the model has no output of that name");
  auto [found, added] = output_places_.emplace(name, outputs_.size());
  if (!added) return found->second;
  output_names_.push_back(name);
  outputs_.emplace_back();
  bound_.push_back(false);
  places_.push_back(nullptr);
  return output_names_.size() - 1;
}

void IoBinding::bind_output(const std::string& name, Value value) {
  size_t i = output_index(name);
  outputs_[i] = std::move(value);
  bound_[i] = true;
}

void IoBinding::bind_output(const std::string& name, const MemoryInfo& memory) {
  require(memory.on_cpu() || session_.allocator(memory) != nullptr, ErrorCode::kInvalidArgument, "cannot bind output '",
          name, "' to memory '", memory.name, "': no provider of the session has it");
  size_t i = output_index(name);
  outputs_[i] = Value();
  bound_[i] = false;
  places_[i] = &memory;
}

void IoBinding::clear_inputs() {
  input_names_.clear();
  input_places_.clear();
  inputs_.clear();
}

void IoBinding::clear_outputs() {
  output_names_.clear();
  output_places_.clear();
  outputs_.clear();
  bound_.clear();
  places_.clear();
}

void IoBinding::run(RunOptions* options) {
  InlinedVector<const char*, 16> input_names, output_names;
  InlinedVector<const Value*, 16> inputs;
  for (const std::string& name : input_names_) input_names.push_back(name.c_str());
  for (const Value& value : inputs_) inputs.push_back(&value);
  for (const std::string& name : output_names_) output_names.push_back(name.c_str());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!bound_[i]) outputs_[i] = Value();
  }
  session_.run(options, input_names, inputs, output_names, outputs_, places_);
}

}  // namespace ortolan::runtime
