// What shape inference says of values, in terms that both libonnx and this library can be put into.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shape_oracle {

/** A value's type: element type by ONNX's number, 0 unknown or no tensor; dimensions, -1 unknown. */
struct KnownType {
  int element = 0;
  bool has_rank = false;
  std::vector<int64_t> dims;
};

struct Inferred {
  std::map<std::string, KnownType> values;
  std::string error;  // why inference failed; values are empty then
};

/** By libonnx, on the bytes of a model. Strict: errors of single nodes count. */
Inferred infer_by_libonnx(const std::string& model, bool strict);
/** By this library at load time; values of the main graph. */
Inferred infer_by_us(const std::string& model);
/** Where two statements about values contradict each other, "" where nowhere. What one does not know is no
    contradiction. */
std::string contradiction(const std::map<std::string, KnownType>& expected,
                          const std::map<std::string, KnownType>& actual);
/** Dimensions that both know, and those that only the first does. */
struct Knowledge {
  int both = 0, only_first = 0;
  std::string example;  // a value of the latter
};
Knowledge compare_knowledge(const std::map<std::string, KnownType>& first,
                            const std::map<std::string, KnownType>& second);
std::string to_text(const KnownType& type);

/** Whether libonnx's schemas are those of the model's operators: their newest forms are no newer than what it knows. */
bool libonnx_knows(const std::string& model);

/** A model of test data, taken apart. */
class ModelVariants {
 public:
  /** Reads a model, with the values in the folder `data` for its inputs (may be empty). Statements of the file about
      outputs and inner values are dropped, so that inference is on its own. */
  ModelVariants(const std::string& path, const std::string& data);
  /** The model; with small integer inputs as constants; with the dimensions of inputs as names of their own. */
  std::string bytes(bool constants, bool symbolic) const;
  /** Claims the newest versions of domains that libonnx knows. */
  void lower_versions();
  /** The shapes of the expected outputs in the folder. */
  std::map<std::string, KnownType> expected_outputs() const;

 private:
  std::string model_, data_;
};

/** A model of one node, y0.. = op(x0..). */
struct RandomNode {
  struct Input {
    int element = 1;  // ONNX's number; 0: left out
    std::vector<int64_t> dims;
    std::vector<int64_t> ints;  // the elements of a constant, in one of these
    std::vector<float> floats;
    bool is_constant = false;  // also without elements
  };
  struct Attribute {
    std::string name;
    char kind;  // 'i', 'I', 'F', 's': int, ints, floats, string
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::string text;
  };

  std::string op;
  int opset = 17;
  std::vector<Input> inputs;
  std::vector<Attribute> attributes;
  int outputs = 1;

  RandomNode& tensor(std::vector<int64_t> dims, int element = 1) {
    inputs.push_back({element, std::move(dims), {}, {}, false});
    return *this;
  }
  RandomNode& constant(std::vector<int64_t> values) {
    auto count = static_cast<int64_t>(values.size());
    inputs.push_back({7, {count}, std::move(values), {}, true});
    return *this;
  }
  RandomNode& scalar(int64_t value) {
    inputs.push_back({7, {}, {value}, {}, true});
    return *this;
  }
  RandomNode& scales(std::vector<float> values) {
    auto count = static_cast<int64_t>(values.size());
    inputs.push_back({1, {count}, {}, std::move(values), true});
    return *this;
  }
  RandomNode& left_out() {
    inputs.push_back({0, {}, {}, {}, false});
    return *this;
  }
  RandomNode& set(std::string name, int64_t value) {
    attributes.push_back({std::move(name), 'i', {value}, {}, ""});
    return *this;
  }
  RandomNode& ints(std::string name, std::vector<int64_t> values) {
    attributes.push_back({std::move(name), 'I', std::move(values), {}, ""});
    return *this;
  }
  RandomNode& floats(std::string name, std::vector<float> values) {
    attributes.push_back({std::move(name), 'F', {}, std::move(values), ""});
    return *this;
  }
  RandomNode& text(std::string name, std::string value) {
    attributes.push_back({std::move(name), 's', {}, {}, std::move(value)});
    return *this;
  }
  std::string model(bool symbolic) const;
  /** For failures. */
  std::string text() const;
};

}  // namespace shape_oracle
