// Caches of keys and values whose present is bound to the memory of the past: only the new rows are written, and the
// results are those of separate memory.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "model_builder.h"

namespace ortolan::runtime {
namespace {

constexpr float kUntouched = -77;

/** A node with inputs x0, x1, … and outputs y0, y1, …; those inputs that hold nothing are left out. */
struct Decoder {
  std::string op, domain;
  int opset;
  std::vector<Value> inputs;
  std::vector<size_t> pasts;    // inputs that are caches
  std::vector<Value> presents;  // what outputs 1, 2, … are bound to

  std::unique_ptr<Session> session(const std::function<void(Node&)>& set) const {
    Builder build;
    build.model->context->opsets[domain] = opset;
    std::vector<ValueInfo*> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor* tensor = inputs[i].has_value() ? &inputs[i].tensor() : nullptr;
      in.push_back(tensor ? build.input("x" + std::to_string(i), SymbolicShape(tensor->shape()), tensor->type())
                          : nullptr);
    }
    for (size_t i = 0; i <= presents.size(); ++i) out.push_back(build.graph().add_value("y" + std::to_string(i)));
    Node* node = build.graph().add_node("node", op, domain, in, out);
    node->opset = opset;
    set(*node);
    for (ValueInfo* value : out) build.graph().mark_output(value);
    return Session::from_model(environment(), std::move(build.model), SessionOptions());
  }
  /** Results with the outputs after the first as given. */
  std::vector<Value> run(const Session& session, const std::vector<Value>& bound) const {
    std::vector<std::string> names;
    std::vector<const Value*> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].has_value()) names.push_back("x" + std::to_string(i)), values.push_back(&inputs[i]);
    }
    std::vector<Value> results(1);
    results.insert(results.end(), bound.begin(), bound.end());
    std::vector<std::string> wanted;
    for (size_t i = 0; i < results.size(); ++i) wanted.push_back("y" + std::to_string(i));
    std::vector<const char*> in, out;
    for (auto& name : names) in.push_back(name.c_str());
    for (auto& name : wanted) out.push_back(name.c_str());
    session.run(nullptr, in, values, out, results);
    return results;
  }
};

std::mt19937& generator() {
  static std::mt19937 made(::testing::UnitTest::GetInstance()->random_seed() + 1);
  return made;
}

Tensor random(Shape shape) {
  std::uniform_real_distribution<float> values(-1, 1);
  Tensor tensor(ElementType::kFloat, std::move(shape));
  for (float& value : tensor.mutable_span<float>()) value = values(generator());
  return tensor;
}

Tensor number(int32_t value) {
  Tensor tensor(ElementType::kInt32, Shape{1});
  *tensor.mutable_data<int32_t>() = value;
  return tensor;
}

/** [first, second, rows, size] of which rows from `filled` on are kUntouched. */
Tensor cache(int64_t first, int64_t second, int64_t rows, int64_t size, int64_t filled) {
  Tensor tensor = random({first, second, rows, size});
  float* data = tensor.mutable_data<float>();
  for (int64_t i = 0; i < first * second; ++i) {
    std::fill(data + (i * rows + filled) * size, data + (i + 1) * rows * size, kUntouched);
  }
  return tensor;
}

Tensor same_memory(const Tensor& tensor, Shape shape) {
  return Tensor(tensor.type(), std::move(shape), const_cast<void*>(tensor.raw()));
}

std::vector<float> floats(const Tensor& tensor) { return {tensor.span<float>().begin(), tensor.span<float>().end()}; }

/** Rows [from, to) of each head of [.., rows, size]. */
std::vector<float> rows_of(const Tensor& tensor, int64_t from, int64_t to) {
  size_t rank = tensor.rank();
  int64_t rows = tensor.shape()[rank - 2], size = tensor.shape()[rank - 1];
  std::vector<float> result;
  for (int64_t i = 0; i < tensor.element_count() / (rows * size); ++i) {
    const float* data = tensor.data<float>() + i * rows * size;
    result.insert(result.end(), data + from * size, data + to * size);
  }
  return result;
}

/** Runs with presents of their own, then with presents in the pasts' memory, and compares. `total` rows are in use
    afterwards; those behind them must stay as they were. */
void expect_same_in_place(Decoder decoder, const std::function<void(Node&)>& set, int64_t total) {
  auto session = decoder.session(set);
  std::vector<Value> apart = decoder.run(*session, std::vector<Value>(decoder.pasts.size()));
  std::vector<Value> bound;
  for (size_t i = 0; i < decoder.pasts.size(); ++i) {
    const Tensor& past = decoder.inputs[decoder.pasts[i]].tensor();
    bound.emplace_back(same_memory(past, apart[i + 1].tensor().shape()));
  }
  std::vector<Value> shared = decoder.run(*session, bound);
  EXPECT_EQ(floats(shared[0].tensor()), floats(apart[0].tensor())) << decoder.op;
  for (size_t i = 1; i < shared.size(); ++i) {
    const Tensor &own = apart[i].tensor(), &present = shared[i].tensor();
    EXPECT_EQ(present.raw(), bound[i - 1].tensor().raw());
    EXPECT_EQ(rows_of(present, 0, total), rows_of(own, 0, total)) << decoder.op << " output " << i;
    for (float value : rows_of(present, total, present.shape()[present.rank() - 2])) ASSERT_EQ(value, kUntouched);
  }
}

/** Sets the attributes of operators that are told that past and present share a buffer. */
auto sharing_of(int64_t heads) {
  return [heads](Node& node) {
    node.set_attribute("num_heads", heads);
    node.set_attribute("past_present_share_buffer", int64_t{1});
  };
}

TEST(SharedCache, OfGroupQueryAttention) {
  for (int64_t fresh : {1, 3}) {
    int64_t heads = 4, kv = 2, size = 16, room = 40, total = 20;
    Tensor lengths = number(static_cast<int32_t>(total - 1));
    Decoder decoder{"GroupQueryAttention", "com.microsoft", 1, {}, {3, 4}, std::vector<Value>(2)};
    decoder.inputs = {random({1, fresh, heads * size}),        random({1, fresh, kv * size}),
                      random({1, fresh, kv * size}),           cache(1, kv, room, size, total - fresh),
                      cache(1, kv, room, size, total - fresh), lengths,
                      number(static_cast<int32_t>(total))};
    expect_same_in_place(
        decoder,
        [&](Node& node) {
          node.set_attribute("num_heads", heads);
          node.set_attribute("kv_num_heads", kv);
        },
        total);
  }
}

TEST(SharedCache, OfDecoderMaskedMultiHeadAttention) {
  int64_t batch = 2, heads = 3, size = 8, room = 24, past = 10;
  Decoder decoder{"DecoderMaskedMultiHeadAttention", "com.microsoft", 1, {}, {5, 6}, std::vector<Value>(2)};
  auto row = [&] { return random({batch, 1, heads * size}); };
  decoder.inputs = {row(),
                    row(),
                    row(),
                    {},
                    {},
                    cache(batch, heads, room, size, past),
                    cache(batch, heads, room, size, past),
                    number(static_cast<int32_t>(past))};
  expect_same_in_place(decoder, sharing_of(heads), past + 1);
}

TEST(SharedCache, OfMicrosoftsAttention) {
  int64_t heads = 2, size = 8, room = 24, past = 10, width = heads * size;
  Tensor both = cache(2, heads, room, size, past);
  Decoder decoder{"Attention", "com.microsoft", 1, {}, {4}, std::vector<Value>(1)};
  decoder.inputs = {random({1, 1, 5}),
                    random({5, 3 * width}),
                    random({3 * width}),
                    {},
                    same_memory(both, {2, 1, heads, room, size}),
                    {},
                    number(static_cast<int32_t>(past))};
  expect_same_in_place(decoder, sharing_of(heads), past + 1);
}

// The present has one row more for each head, so that all heads but the first move.
TEST(SharedCache, ThatGrows) {
  int64_t batch = 2, heads = 3, size = 8, past = 10;
  Decoder decoder{"Attention", "", 23, {}, {4, 5}, std::vector<Value>(2)};
  auto row = [&] { return random({batch, heads, 1, size}); };
  auto buffer = [&] { return random({batch, heads, past + 1, size}); };
  Tensor keys = buffer(), values = buffer();
  Shape before{batch, heads, past, size};
  decoder.inputs = {row(), row(), row(), {}, same_memory(keys, before), same_memory(values, before)};
  expect_same_in_place(
      decoder, [](Node&) {}, past + 1);
}

}  // namespace
}  // namespace ortolan::runtime
