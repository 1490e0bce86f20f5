// Kernel of TfIdfVectorizer.
#include <algorithm>
#include <unordered_map>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Numbers of whole-number keys, by open addressing: nothing is erased, and half of the places stay free. */
class NumberTable {
 public:
  static constexpr int64_t kNone = -1;
  int64_t find(int64_t key) const {
    for (size_t at = place_of(key);; at = (at + 1) & mask_) {
      if (places_[at].number == kNone || places_[at].key == key) return places_[at].number;
    }
  }
  /** The key's number; `number`, which becomes it, where it has none. */
  int64_t add(int64_t key, int64_t number) {
    if (2 * (count_ + 1) > places_.size()) grow();
    size_t at = place_of(key);
    while (places_[at].number != kNone && places_[at].key != key) at = (at + 1) & mask_;
    if (places_[at].number != kNone) return places_[at].number;
    places_[at] = {key, number};
    ++count_;
    return number;
  }
  int64_t size() const { return static_cast<int64_t>(count_); }

 private:
  struct Place {
    int64_t key = 0, number = kNone;
  };
  size_t place_of(int64_t key) const {
    return static_cast<size_t>((static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15u) >> 32) & mask_;
  }
  void grow() {
    std::vector<Place> old(2 * places_.size());
    std::swap(old, places_);
    mask_ = places_.size() - 1;
    count_ = 0;
    for (const Place& place : old) {
      if (place.number != kNone) add(place.key, place.number);
    }
  }

  std::vector<Place> places_ = std::vector<Place>(16);
  size_t mask_ = 15, count_ = 0;
};

/** The n-grams of the pool as a tree of item numbers: node 0 is the root, -1 stands for nothing. Items and nodes have
    numbers below 2^31. */
class GramTree {
 public:
  /** For items with numbers below `items`. */
  explicit GramTree(size_t items = 0) : first_(items, -1) {}
  int64_t child(int64_t node, int64_t item) const {
    return node == 0 ? first_[static_cast<size_t>(item)] : children_.find(node << 32 | item);
  }
  void add(std::span<const int64_t> items, int64_t number) {
    int64_t node = 0;
    for (int64_t item : items) node = grown_child(node, item);
    numbers_[static_cast<size_t>(node)] = number;
  }
  /** The number of the n-gram that ends at the node; -1 when none does. */
  int64_t number(int64_t node) const { return numbers_[static_cast<size_t>(node)]; }

 private:
  int64_t grown_child(int64_t node, int64_t item) {
    auto next = static_cast<int64_t>(numbers_.size());
    if (node > 0) {
      next = children_.add(node << 32 | item, next);
    } else {
      int64_t& child = first_[static_cast<size_t>(item)];
      next = child = child < 0 ? next : child;
    }
    if (static_cast<size_t>(next) == numbers_.size()) numbers_.push_back(-1);
    return next;
  }

  std::vector<int64_t> first_;  // children of the root
  NumberTable children_;        // of other nodes: the key is node and item
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
    const int64_t least = kernels::least_rows(length, kernels::kFunctionNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        put_copies(to + r * width, width, 0.0f);
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
    require(words.size() + numbers.size() <= INT32_MAX, ErrorCode::kInvalidGraph, "the pool has ",
            words.size() + numbers.size(), " entries; it may have ", INT32_MAX);
    std::vector<int64_t> items;
    for (const std::string& word : words) items.push_back(words_.try_emplace(word, words_.size()).first->second);
    for (int64_t number : numbers) items.push_back(numbers_.add(number, numbers_.size()));
    tree_ = GramTree(items.size());
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
    auto look_up = [&](const auto& values) {
      base::polled_loop(std::ssize(values), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) items[i] = numbers_.find(values[i]);
      });
    };
    if (input.type() == ElementType::kInt32) return look_up(input.span<int32_t>());
    if (input.type() == ElementType::kInt64) return look_up(input.span<int64_t>());
    auto words = input.span<std::string>();
    auto look_up_words = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto found = words_.find(words[i]);
        items[i] = found == words_.end() ? -1 : found->second;
      }
    };
    base::polled_loop(std::ssize(words), look_up_words, 8);
  }

  void count_row(std::span<const int64_t> row, float* to) const {
    auto length = static_cast<int64_t>(row.size());
    base::TerminatePoll poll;
    for (int64_t step = 1; step <= skips_ + 1 && step <= std::max<int64_t>(length, 1); ++step) {
      for (int64_t begin = 0; begin < length; ++begin) {
        int64_t node = 0, at = begin;
        poll.work();
        for (int64_t n = 1; n <= longest_ && at < length; ++n, at += step) {
          poll.work();
          const int64_t item = row[static_cast<size_t>(at)];
          if (item < 0) break;
          node = tree_.child(node, item);
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
  NumberTable numbers_;
  GramTree tree_;
};

constexpr KernelRow kRows[] = {
    {"", "TfIdfVectorizer", 9, kLatest, make_kernel<TfIdfVectorizer>},
};

}  // namespace

extern const KernelTable tf_idf_vectorizer_rows;
const KernelTable tf_idf_vectorizer_rows(kRows);

}  // namespace ortolan::cpu::onnx
