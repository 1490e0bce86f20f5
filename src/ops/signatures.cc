// Reading symbols/operator_signatures.txt, which says what its lines mean.
#include "ops/signatures.h"

#include <charconv>
#include <map>
#include <memory>
#include <mutex>

#include "ops/channels_last.h"

namespace ortolan::ops {
namespace {

constexpr std::string_view kText =
#include "operator_signatures.inc"
    ;

/** Takes what stands before `separator` off the front of the text. */
std::string_view take(std::string_view& text, char separator) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> words(std::string_view text, char separator = ' ') {
  std::vector<std::string_view> result;
  while (!text.empty()) result.push_back(take(text, separator));
  return result;
}

/** One form of an operator: its line, and what the line says once somebody asked. */
struct Form {
  int since;
  std::string_view inputs, outputs, parameters;
  std::unique_ptr<const OperatorSignature> signature;
};

class SignatureTable {
 public:
  SignatureTable();
  const OperatorSignature* find(std::string_view domain, std::string_view name, int version);

 private:
  void add_form(std::string_view domain, std::string_view& name, std::string_view line);
  std::unique_ptr<const OperatorSignature> read(const Form& form) const;
  std::vector<const char*> types_of(std::string_view set) const;

  std::vector<std::string> types_;
  std::vector<std::string_view> sets_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Form>> forms_;  // oldest first
  std::mutex mutex_;
};

SignatureTable::SignatureTable() {
  std::string_view rest = kText, domain, name;
  while (!rest.empty()) {
    std::string_view line = take(rest, '\n');
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("types ")) {
      for (std::string_view type : words(line.substr(6), '|')) types_.emplace_back(type);
    } else if (line.starts_with("sets ")) {
      sets_ = words(line.substr(5));
    } else if (line[0] == '[') {
      domain = line.substr(1, line.size() - 2);
    } else {
      add_form(domain, name, line);
    }
  }
}

void SignatureTable::add_form(std::string_view domain, std::string_view& name, std::string_view line) {
  std::string_view called = take(line, '\t');
  if (!called.empty()) name = called;
  auto& forms = forms_[{domain, name}];
  Form form{number(take(line, '\t')), take(line, '\t'), take(line, '\t'), line, nullptr};
  if (form.inputs == "\"") form.inputs = forms.back().inputs;
  if (form.outputs == "\"") form.outputs = forms.back().outputs;
  forms.push_back(std::move(form));
}

std::vector<const char*> SignatureTable::types_of(std::string_view set) const {
  std::vector<const char*> result;
  while (!set.empty()) {
    std::string_view range = take(set, ',');
    int first = number(take(range, '-'));
    int last = range.empty() ? first : number(range);
    for (int i = first; i <= last; ++i) result.push_back(types_[i].c_str());
  }
  return result;
}

std::unique_ptr<const OperatorSignature> SignatureTable::read(const Form& form) const {
  auto signature = std::make_unique<OperatorSignature>();
  signature->since = form.since;
  std::map<std::string_view, int> by_name;
  for (std::string_view text : words(form.parameters)) {
    std::string_view name = take(text, '=');
    by_name.emplace(name, static_cast<int>(signature->parameters.size()));
    signature->parameters.push_back({std::string(name), types_of(sets_[number(text)]), {}, {}});
  }
  auto fill = [&](std::string_view text, std::vector<FormalValue>& values, std::vector<size_t> TypeParameter::*uses) {
    for (std::string_view word : words(text)) {
      std::string_view name = take(word, ':');
      auto found = by_name.find(word);
      int parameter = found == by_name.end() ? -1 : found->second;
      if (parameter >= 0) (signature->parameters[parameter].*uses).push_back(values.size());
      values.push_back({std::string(name), parameter});
    }
  };
  fill(form.inputs, signature->inputs, &TypeParameter::inputs);
  fill(form.outputs, signature->outputs, &TypeParameter::outputs);
  return signature;
}

const OperatorSignature* SignatureTable::find(std::string_view domain, std::string_view name, int version) {
  auto found = forms_.find({domain == "ai.onnx" ? std::string_view() : domain, name});
  if (found == forms_.end()) return nullptr;
  Form* newest = nullptr;
  for (Form& form : found->second) {
    if (form.since <= version) newest = &form;
  }
  if (newest == nullptr) return nullptr;
  std::lock_guard lock(mutex_);
  if (newest->signature == nullptr) newest->signature = read(*newest);
  return newest->signature.get();
}

}  // namespace

const OperatorSignature* find_signature(std::string_view domain, std::string_view name, int version) {
  static auto& table = *new SignatureTable;
  if (domain == kChannelsLastDomain) domain = "";  // the same but for the order of dimensions
  return table.find(domain, name, version);
}

}  // namespace ortolan::ops
