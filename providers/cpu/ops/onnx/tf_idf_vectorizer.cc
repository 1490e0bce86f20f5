// Kernel of TfIdfVectorizer.
#include <unordered_map>

#include "base/thread_pool.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The n-grams of the pool as a tree of item numbers: node 0 is the root, -1 stands for nothing. */
class GramTree {
 public:
  int64_t child(int64_t node, int64_t item) const {
    auto found = children_.find({node, item});
    return found == children_.end() ? -1 : found->second;
  }
  void add(std::span<const int64_t> items, int64_t number) {
    int64_t node = 0;
    for (int64_t item : items) {
      auto [found, is_new] = children_.try_emplace({node, item}, static_cast<int64_t>(numbers_.size()));
      if (is_new) numbers_.push_back(-1);
      node = found->second;
    }
    numbers_[static_cast<size_t>(node)] = number;
  }
  /** The number of the n-gram that ends at the node; -1 when none does. */
  int64_t number(int64_t node) const { return numbers_[static_cast<size_t>(node)]; }

 private:
  struct Hash {
    size_t operator()(const std::pair<int64_t, int64_t>& key) const {
      return static_cast<size_t>((static_cast<uint64_t>(key.first) * 0x9e3779b97f4a7c15u) ^
                                 (static_cast<uint64_t>(key.second) * 0xc2b2ae3d27d4eb4fu));
    }
  };
  std::unordered_map<std::pair<int64_t, int64_t>, int64_t, Hash> children_;
  std::vector<int64_t> numbers_ = {-1};
};

class TfIdfVectorizer : public OpKernel {
 public:
  explicit TfIdfVectorizer(const KernelInfo& info)
      : shortest_(info.node().int_of("min_gram_length")),
        longest_(info.node().int_of("max_gram_length")),
        skips_(info.node().int_of("max_skip_count")),
        places_(info.node().ints("ngram_indexes")),
        weights_(info.node().floats("weights")) {
    const std::string& mode = info.node().string_of("mode");
    require(mode == "TF" || mode == "IDF" || mode == "TFIDF", ErrorCode::kInvalidGraph, "mode '", mode,
            "' is unknown; it must be TF, IDF or TFIDF");
    counts_ = mode != "IDF";
    weighted_ = mode != "TF" && !weights_.empty();
    require(shortest_ >= 1 && longest_ >= shortest_ && skips_ >= 0, ErrorCode::kInvalidGraph, "min_gram_length ",
            shortest_, ", max_gram_length ", longest_, " and max_skip_count ", skips_, " are out of range");
    require(weights_.empty() || weights_.size() == places_.size(), ErrorCode::kInvalidGraph, "weights has ",
            weights_.size(), " entries, but ngram_indexes ", places_.size());
    for (int64_t place : places_) require(place >= 0, ErrorCode::kInvalidGraph, "ngram_indexes holds ", place);
    add_pool(info.node());
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    auto items = context.scratch<int64_t>(input.element_count());
    number_items(input, items);
    int64_t rows = input.rank() == 2 ? input.shape()[0] : 1,
            length = input.rank() == 2 ? input.shape()[1] : input.element_count();
    int64_t width = output.shape().back();
    float* to = output.mutable_data<float>();
    context.threads().parallel_for(rows, 1 + 4096 / std::max<int64_t>(length, 1), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        std::fill_n(to + r * width, width, 0.0f);
        count_row(items.subspan(static_cast<size_t>(r * length), static_cast<size_t>(length)), to + r * width);
      }
    });
  }

 private:
  /** Numbers every distinct item of the pool and puts its n-grams into the tree. */
  void add_pool(const Node& node) {
    const auto& words = node.strings("pool_strings");
    const auto& numbers = node.ints("pool_int64s");
    require(words.empty() != numbers.empty(), ErrorCode::kInvalidGraph,
            "give the pool as either pool_strings or pool_int64s");
    std::vector<int64_t> items;
    for (const std::string& word : words) items.push_back(words_.try_emplace(word, words_.size()).first->second);
    for (int64_t number : numbers) items.push_back(numbers_.try_emplace(number, numbers_.size()).first->second);
    const auto& starts = node.ints("ngram_counts");
    int64_t gram = 0;
    for (size_t n = 1; n <= starts.size(); ++n) {
      int64_t begin = starts[n - 1], end = n < starts.size() ? starts[n] : static_cast<int64_t>(items.size());
      auto length = static_cast<int64_t>(n);
      require(begin >= 0 && begin <= end && end <= static_cast<int64_t>(items.size()) && (end - begin) % length == 0,
              ErrorCode::kInvalidGraph, "ngram_counts gives [", begin, ", ", end, ") for the ", n,
              "-grams in a pool of ", items.size());
      for (; begin < end; begin += length) {
        require(gram < static_cast<int64_t>(places_.size()), ErrorCode::kInvalidGraph,
                "the pool has more n-grams than the ", places_.size(), " entries of ngram_indexes");
        tree_.add(std::span(items).subspan(static_cast<size_t>(begin), n), gram++);
      }
    }
  }

  void number_items(const Tensor& input, std::span<int64_t> items) const {
    auto look_up = [&](const auto& table, const auto& values) {
      for (size_t i = 0; i < values.size(); ++i) {
        auto found = table.find(values[i]);
        items[i] = found == table.end() ? -1 : found->second;
      }
    };
    if (input.type() == ElementType::kString) return look_up(words_, input.span<std::string>());
    if (input.type() == ElementType::kInt32) return look_up(numbers_, input.span<int32_t>());
    look_up(numbers_, input.span<int64_t>());
  }

  void count_row(std::span<const int64_t> row, float* to) const {
    auto length = static_cast<int64_t>(row.size());
    for (int64_t step = 1; step <= skips_ + 1 && step <= std::max<int64_t>(length, 1); ++step) {
      for (int64_t begin = 0; begin < length; ++begin) {
        int64_t node = 0, at = begin;
        for (int64_t n = 1; n <= longest_ && at < length; ++n, at += step) {
          node = tree_.child(node, row[static_cast<size_t>(at)]);
          if (node < 0) break;
          if (n >= shortest_ && (n > 1 || step == 1)) count(tree_.number(node), to);
        }
      }
    }
  }

  void count(int64_t gram, float* to) const {
    if (gram < 0) return;
    float weight = weighted_ ? weights_[static_cast<size_t>(gram)] : 1.0f;
    float& place = to[places_[static_cast<size_t>(gram)]];
    place = counts_ ? place + weight : weight;
  }

  int64_t shortest_, longest_, skips_;
  std::vector<int64_t> places_;
  std::vector<float> weights_;
  bool counts_, weighted_;
  std::unordered_map<std::string, int64_t> words_;
  std::unordered_map<int64_t, int64_t> numbers_;
  GramTree tree_;
};

constexpr KernelRow kRows[] = {
    {"", "TfIdfVectorizer", 9, kLatest, make_kernel<TfIdfVectorizer>},
};

}  // namespace

extern const KernelTable tf_idf_vectorizer_rows;
const KernelTable tf_idf_vectorizer_rows(kRows);

}  // namespace ortolan::cpu::onnx
