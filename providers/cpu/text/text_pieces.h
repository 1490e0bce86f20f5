// Rows of pieces that texts are cut into, as views until it is known how wide the widest row is.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/memory_budget.h"
#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"

namespace ortolan::cpu {

/** A growing row of pieces. */
using Pieces = std::vector<std::string_view>;

/** The pieces of many texts; the views are of these texts. */
class PieceRows {
 public:
  /** cut(text, number, pieces) puts the pieces of one text behind those that are there; many run at once. */
  template <class Cut>
  PieceRows(base::ThreadPool& threads, std::span<const std::string> texts, Cut&& cut)
      : blocks_((texts.size() + kBlock - 1) / kBlock) {
    threads.parallel_for(static_cast<int64_t>(blocks_.size()), 1, [&](int64_t begin, int64_t end) {
      for (auto number = static_cast<size_t>(begin); number < static_cast<size_t>(end); ++number) {
        Block& block = blocks_[number];
        size_t first = number * kBlock, count = std::min(kBlock, texts.size() - first);
        block.ends.reserve(count);
        block.pieces.reserve(2 * count);
        for (size_t i = first; i < first + count; ++i) {
          size_t before = block.pieces.size();
          cut(std::string_view(texts[i]), static_cast<int64_t>(i), block.pieces);
          block.ends.push_back(block.pieces.size());
          block.widest = std::max(block.widest, block.pieces.size() - before);
        }
      }
    });
    for (const Block& block : blocks_) widest_ = std::max(widest_, block.widest);
  }

  /** The number of pieces in the longest row. */
  size_t widest() const { return widest_; }

  /** Calls body(pieces) for each row in turn. */
  template <class Body>
  void for_each_row(Body&& body) const {
    base::TerminatePoll poll;
    for (const Block& block : blocks_) {
      size_t begin = 0;
      for (size_t end : block.ends) {
        poll.work(1 + static_cast<int64_t>(widest_));
        body(std::span(block.pieces).subspan(begin, end - begin));
        begin = end;
      }
    }
  }

 private:
  static constexpr size_t kBlock = 128;  // texts that one thread cuts at a time
  struct Block {
    Pieces pieces;
    std::vector<size_t> ends;  // of the rows
    size_t widest = 0;
  };
  std::vector<Block> blocks_;
  size_t widest_ = 0;
};

/** Makes `to` a copy of the text. Building it anew spares short texts, which need no memory, a call. */
inline void rebuild(std::string& to, std::string_view text) {
  base::count_string(text.size());
  std::destroy_at(&to);
  try {
    std::construct_at(&to, text);
  } catch (...) {
    std::construct_at(&to);
    throw;
  }
}

/** Gives the place behind the last one written. */
inline std::string* write_pieces(std::span<const std::string_view> pieces, std::string* to) {
  base::polled_loop(std::ssize(pieces), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) rebuild(*to++, pieces[static_cast<size_t>(i)]);
  });
  return to;
}

}  // namespace ortolan::cpu
