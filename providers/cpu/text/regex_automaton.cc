// Building an automaton of states that are sets of steps, and running it.
#include "cpu/text/regex_automaton.h"

#include <map>
#include <optional>
#include <set>

#include "base/threads/polled_loop.h"
#include "cpu/text/regex_states.h"

namespace ortolan::cpu {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // bytes of a text between two looks whether to stop

using Op = Regex::Op;
using Step = Regex::Step;
using Sets = std::vector<std::vector<Regex::Range>>;

constexpr size_t kMostEntries = 1 << 15;  // of the table
constexpr size_t kMostTests = 1 << 18;    // whether a set has a code point
constexpr size_t kMostAutomatonSteps = 1 << 12;
constexpr size_t kMostWork = 1 << 20;  // steps looked at

}  // namespace

class RegexAutomatonBuilder {
 public:
  RegexAutomatonBuilder(const std::vector<Step>& steps, const Sets& sets)
      : steps_(steps), sets_(sets), closure_(steps) {
    auto has = [&](Op op) { return std::ranges::any_of(steps, [&](const Step& step) { return step.op == op; }); };
    sees_begin_ = has(Op::kTextBegin);
    sees_words_ = has(Op::kBoundary) || has(Op::kNoBoundary);
  }

  std::shared_ptr<const RegexAutomaton> build() {
    if (steps_.size() > kMostAutomatonSteps || !find_classes()) return nullptr;
    number_of({});
    result_->starts_[0] = number_of({{0}, sees_begin_, false});
    result_->starts_[1] = number_of({{0}, false, sees_words_});
    result_->starts_[2] = number_of({{0}, false, false});
    for (size_t done = 0; done < states_.size(); ++done) {
      if (states_.size() * width() > kMostEntries || work_ > kMostWork) return nullptr;
      add_entries(*states_[done]);
    }
    return result_;
  }

 private:
  /** The steps that the text so far has led to, before those that take no code point are followed, because these may
      depend on what comes next. */
  struct State {
    std::vector<uint32_t> steps;
    bool at_begin = false, after_word = false;
    auto operator<=>(const State&) const = default;
  };
  /** What follows from a state at a place. */
  struct Closure {
    std::vector<uint32_t> waiting;
    bool matched;
  };

  size_t width() const { return result_->classes_ + 1; }

  /** Puts code points that no set tells apart into one class. False where there are too many. */
  bool find_classes() {
    std::set<uint32_t> borders = {0, 0x80};
    for (const auto& set : sets_) {
      for (auto [first, last] : set) borders.insert({first, last + 1});
      if (borders.size() * sets_.size() > kMostTests) return false;
    }
    if (sees_words_) borders.insert({'0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1});
    std::map<std::vector<bool>, uint8_t> numbers;
    for (auto border = borders.begin(); border != borders.end(); ++border) {
      std::vector<bool> key{sees_words_ && is_word(*border)};
      for (const auto& set : sets_) key.push_back(inside(set, *border));
      auto [found, is_new] = numbers.try_emplace(key, static_cast<uint8_t>(numbers.size()));
      if (numbers.size() > 200) return false;
      if (is_new) members_.push_back(std::move(key));
      if (*border >= 0x80) result_->class_from_.emplace_back(*border, found->second);
      auto next = std::next(border);
      uint32_t end = std::min<uint32_t>(0x80, next == borders.end() ? 0x80 : *next);
      for (uint32_t code = *border; code < end; ++code) result_->class_of_byte_[code] = found->second;
    }
    result_->classes_ = static_cast<uint32_t>(numbers.size());
    return true;
  }

  /** Where the state's entries begin. */
  uint32_t number_of(State state) {
    auto begin = static_cast<uint32_t>(states_.size() * width());
    auto [found, is_new] = numbers_.try_emplace(std::move(state), begin);
    if (is_new) states_.push_back(&found->first);
    return found->second;
  }

  Closure closure_of(const State& state, bool end, bool boundary) {
    closure_.clear();
    for (uint32_t step : state.steps) closure_.add(step, {state.at_begin, end, boundary});
    Closure result{{}, closure_.matched()};
    for (const auto& [step, begin] : closure_.waiting()) result.waiting.push_back(step);
    work_ += steps_.size();
    return result;
  }

  void add_entries(const State& state) {
    const Closure before[] = {closure_of(state, false, state.after_word), closure_of(state, false, !state.after_word)};
    for (uint32_t number = 0; number < result_->classes_; ++number) {
      const std::vector<bool>& member = members_[number];
      const Closure& here = before[member[0]];
      State next{{}, false, member[0]};
      for (uint32_t step : here.waiting) {
        if (member[1 + steps_[step].x]) next.steps.push_back(step + 1);
      }
      std::ranges::sort(next.steps);
      work_ += here.waiting.size();
      result_->table_.push_back(2 * (next.steps.empty() ? 0 : number_of(std::move(next))) + here.matched);
    }
    result_->table_.push_back(closure_of(state, true, state.after_word).matched);
  }

  const std::vector<Step>& steps_;
  const Sets& sets_;
  RegexStates closure_;
  bool sees_begin_, sees_words_;
  std::shared_ptr<RegexAutomaton> result_{new RegexAutomaton};
  std::vector<std::vector<bool>> members_;  // of each class: whether it is of words, then which sets it is in
  std::map<State, uint32_t> numbers_;
  std::vector<const State*> states_;
  size_t work_ = 0;
};

std::shared_ptr<const RegexAutomaton> RegexAutomaton::build(const std::vector<Step>& steps, const Sets& sets) {
  return RegexAutomatonBuilder(steps, sets).build();
}

uint32_t RegexAutomaton::class_of(uint32_t code) const {
  auto after = std::ranges::upper_bound(class_from_, code, {}, &std::pair<uint32_t, uint8_t>::first);
  return std::prev(after)->second;
}

inline uint32_t RegexAutomaton::next_class(std::string_view text, size_t& at) const {
  auto byte = static_cast<uint8_t>(text[at]);
  if (byte >= 0x80) return class_of(next_code_point(text, at));
  ++at;
  return class_of_byte_[byte];
}

/** How far a text is read before the run is asked again whether to stop. */
inline size_t end_of_piece(std::string_view text, size_t at) { return at + std::min(text.size() - at, kPiece); }

bool RegexAutomaton::matches(std::string_view text) const {
  uint32_t state = starts_[0];
  for (size_t at = 0; at < text.size() && state != 0;) {
    if (at > 0) base::check_terminate();
    const size_t stop = end_of_piece(text, at);
    while (at < stop && state != 0) state = table_[state + next_class(text, at)] >> 1;
  }
  return (table_[state + classes_] & 1) != 0;
}

RegexAutomaton::Longest RegexAutomaton::longest(std::string_view text, size_t from) const {
  bool after_word = from > 0 && is_word(static_cast<uint8_t>(text[from - 1]));
  uint32_t state = starts_[from == 0 ? 0 : after_word ? 1 : 2];
  Longest result{std::string_view::npos, from};
  while (state != 0 && result.read < text.size()) {
    if (result.read > from) base::check_terminate();
    const size_t stop = end_of_piece(text, result.read);
    while (state != 0 && result.read < stop) {
      size_t before = result.read;
      uint32_t entry = table_[state + next_class(text, result.read)];
      if (entry & 1) result.end = before;
      state = entry >> 1;
    }
  }
  if (table_[state + classes_] & 1) result.end = text.size();
  return result;
}

}  // namespace ortolan::cpu
