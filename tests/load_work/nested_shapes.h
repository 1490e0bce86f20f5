// The shapes of which a part is a graph or a function within the model's graph.
#pragma once

#include <cstddef>
#include <string>

namespace ortolan::test {

/** An If for each part, all with branches that read the one x; which branch is taken is known at load time. */
std::string taken_branches(size_t n);
/** The same where that is known in a run. */
std::string open_branches(size_t n);
/** One If whose branches read many values from around them. */
std::string captures(size_t n);
/** Functions, each called once. */
std::string functions(size_t n);
/** Calls of one function. */
std::string calls(size_t n);
/** A loop of one step whose body has all the nodes. */
std::string loop(size_t n);

}  // namespace ortolan::test
