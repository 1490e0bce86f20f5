// Uses as a list that runs through the nodes that make them.
#include "graph/consumers.h"

#include "graph/graph.h"

namespace ortolan::graph {

void Consumers::append(Use use) {
  use.node->links_[use.input] = {last_, {}};
  (last_.node ? last_.node->links_[last_.input].next : first_) = use;
  last_ = use;
  ++size_;
}

void Consumers::remove(Use use) {
  auto& [previous, next] = use.node->links_[use.input];
  (previous.node ? previous.node->links_[previous.input].next : first_) = next;
  (next.node ? next.node->links_[next.input].previous : last_) = previous;
  previous = next = {};
  --size_;
}

void Consumers::take_all(Consumers& other) {
  if (other.empty()) return;
  other.first_.node->links_[other.first_.input].previous = last_;
  (last_.node ? last_.node->links_[last_.input].next : first_) = other.first_;
  last_ = other.last_;
  size_ += other.size_;
  other.first_ = other.last_ = {};
  other.size_ = 0;
}

}  // namespace ortolan::graph
