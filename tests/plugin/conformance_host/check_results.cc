// Results of models of which a plugin's provider runs a part: the same as by arithmetic.
#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

/** Runs on the provider at API level 22 too, where it takes no nodes and the CPU does all. */
struct Bench {
  Runtime& runtime;
  const char* provider;

  std::vector<Array> run(const GraphText& graph, const Arrays& inputs, const Names& outputs,
                         const Pairs& settings = {}) const {
    Handle<OrtSessionOptions> options = runtime.options_with(provider, settings);
    int64_t before = runtime.times(Event::kCompute);
    Handle<OrtSession> session = runtime.session(graph, options.get());
    std::vector<Array> first = runtime.run(session.get(), inputs, outputs);
    std::vector<Array> second = runtime.run(session.get(), inputs, outputs);
    for (size_t i = 0; i < first.size(); i++) expect_near(second[i], first[i], "the second run's " + outputs[i]);
    expect(runtime.times(Event::kCompute) > before, "the provider computed nothing");
    return first;
  }
};

using Check = void (*)(const Bench& bench);

void one_node(const Bench& bench) {
  GraphText graph;
  graph.input("x", {2, 3}).input("y", {2, 3}).output("z", {2, 3}).node("Mul", {"x", "y"}, {"z"});
  Array x = ramp({2, 3}), y = ramp({2, 3}, -2);
  expect_near(bench.run(graph, {{"x", x}, {"y", y}}, {"z"})[0], multiply(x, y), "z");
}

void one_input_twice(const Bench& bench) {
  GraphText graph;
  graph.input("x", {3}).output("z", {3}).node("Mul", {"x", "x"}, {"z"});
  Array x = ramp({3});
  expect_near(bench.run(graph, {{"x", x}}, {"z"})[0], multiply(x, x), "z");
}

GraphText weighted() {
  GraphText graph;
  graph.input("x", {2, 3}).output("z", {2, 3}).weights("w", {3}, {2, 3, 4}).weights("b", {1}, {0.5});
  graph.node("Mul", {"x", "w"}, {"a"}).node("Add", {"a", "b"}, {"z"});
  return graph;
}

void weights(const Bench& bench) {
  Array x = ramp({2, 3}), w{{3}, {2, 3, 4}}, b{{1}, {0.5}};
  expect_near(bench.run(weighted(), {{"x", x}}, {"z"})[0], add(multiply(x, w), b), "z");
}

void weights_kept(const Bench& bench) {
  Array x = ramp({2, 3}), w{{3}, {2, 3, 4}}, b{{1}, {0.5}};
  Pairs settings = {{"drop_constant_initializers", "0"}, {"prepack", "0"}};
  expect_near(bench.run(weighted(), {{"x", x}}, {"z"}, settings)[0], add(multiply(x, w), b), "z");
}

void weights_shared_with_the_cpu(const Bench& bench) {
  GraphText graph;
  graph.input("x", {3}).output("z", {3}).output("n", {3}).weights("w", {3}, {2, 3, 4});
  graph.node("Mul", {"x", "w"}, {"z"}).node("Sub", {"x", "w"}, {"n"});
  Array x = ramp({3}), w{{3}, {2, 3, 4}};
  std::vector<Array> results = bench.run(graph, {{"x", x}}, {"z", "n"});
  expect_near(results[0], multiply(x, w), "z");
  expect_near(results[1], add(x, negate(w)), "n");
}

void cpu_between(const Bench& bench) {
  GraphText graph;
  graph.input("x", {4}).input("y", {4}).output("z", {4});
  graph.node("Mul", {"x", "y"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "a"}, {"c"});
  graph.node("Neg", {"c"}, {"d"}).node("Add", {"d", "y"}, {"z"});
  Array x = ramp({4}), y = ramp({4}, 7);
  expect_near(bench.run(graph, {{"x", x}, {"y", y}}, {"z"})[0], y, "z");
}

void cpu_first_and_last(const Bench& bench) {
  GraphText graph;
  graph.input("x", {4}).output("z", {4});
  graph.node("Neg", {"x"}, {"a"}).node("Mul", {"a", "x"}, {"b"}).node("Neg", {"b"}, {"z"});
  Array x = ramp({4});
  expect_near(bench.run(graph, {{"x", x}}, {"z"})[0], multiply(x, x), "z");
}

void several_outputs(const Bench& bench) {
  GraphText graph;
  graph.input("x", {2}).input("y", {2}).output("a", {2}).output("b", {2}).output("c", {2});
  graph.node("Mul", {"x", "y"}, {"a"}).node("Add", {"a", "x"}, {"b"}).node("Neg", {"a"}, {"c"});
  Array x = ramp({2}), y = ramp({2}, 3);
  std::vector<Array> results = bench.run(graph, {{"x", x}, {"y", y}}, {"c", "a", "b"});
  expect_near(results[0], negate(multiply(x, y)), "c");
  expect_near(results[1], multiply(x, y), "a");
  expect_near(results[2], add(multiply(x, y), x), "b");
}

void broadcasting(const Bench& bench) {
  GraphText graph;
  graph.input("x", {2, 1, 3}).input("y", {4, 1}).output("z", {2, 4, 3}).node("Add", {"x", "y"}, {"z"});
  Array x = ramp({2, 1, 3}), y = ramp({4, 1}, 10);
  expect_near(bench.run(graph, {{"x", x}, {"y", y}}, {"z"})[0], add(x, y), "z");
}

void scalars(const Bench& bench) {
  GraphText graph;
  graph.input("x", {}).output("z", {}).weights("w", {}, {3}).node("Mul", {"x", "w"}, {"z"});
  expect_near(bench.run(graph, {{"x", {{}, {5}}}}, {"z"})[0], {{}, {15}}, "z");
}

void no_elements(const Bench& bench) {
  GraphText graph;
  graph.input("x", {-1, 3}).output("z", {-1, 3}).node("Mul", {"x", "x"}, {"z"});
  expect_near(bench.run(graph, {{"x", {{0, 3}, {}}}}, {"z"})[0], {{0, 3}, {}}, "z");
}

void dynamic_shapes(const Bench& bench) {
  GraphText graph;
  graph.input("x", {-1, -1}).input("y", {-1, -1}).output("z", {-1, -1});
  graph.node("Mul", {"x", "y"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "x"}, {"z"});
  Handle<OrtSessionOptions> options = bench.runtime.options_with(bench.provider);
  Handle<OrtSession> session = bench.runtime.session(graph, options.get());
  for (int64_t n : {1, 5, 2, 5}) {
    Array x = ramp({n, 3}), y = ramp({n, 3}, 2);
    Array found = bench.runtime.run(session.get(), {{"x", x}, {"y", y}}, {"z"})[0];
    expect_near(found, add(negate(multiply(x, y)), x), "z of " + std::to_string(n));
  }
}

void optional_inputs(const Bench& bench) {
  GraphText graph;
  graph.input("x", {3}).output("z", {3}).weights("most", {}, {2});
  graph.node("Mul", {"x", "x"}, {"a"}).node("Clip", {"a", "", "most"}, {"b"}).node("Add", {"b", "x"}, {"z"});
  Array found = bench.run(graph, {{"x", {{3}, {1, 2, 0.5}}}}, {"z"})[0];
  expect_near(found, {{3}, {2, 4, 0.75}}, "z");
}

void a_cycle_avoided(const Bench& bench) {
  GraphText graph;  // m0, m1 and m2, m3 are connected, but a group of all would depend on itself through Neg
  graph.input("x", {2}).output("z", {2});
  graph.node("Mul", {"x", "x"}, {"m0"}).node("Add", {"m0", "x"}, {"m1"}).node("Neg", {"m1"}, {"n"});
  graph.node("Mul", {"m0", "n"}, {"m2"}).node("Add", {"m2", "m1"}, {"z"});
  Array x = ramp({2}), m0 = multiply(x, x), m1 = add(m0, x);
  expect_near(bench.run(graph, {{"x", x}}, {"z"})[0], add(multiply(m0, negate(m1)), m1), "z");
}

void two_groups_that_cross(const Bench& bench) {
  GraphText graph;
  graph.input("x", {2}).input("y", {2}).output("p", {2}).output("q", {2});
  graph.node("Mul", {"x", "x"}, {"a"}).node("Mul", {"y", "y"}, {"b"}).node("Neg", {"a"}, {"c"});
  graph.node("Neg", {"b"}, {"d"}).node("Add", {"a", "d"}, {"p"}).node("Add", {"b", "c"}, {"q"});
  Array x = ramp({2}), y = ramp({2}, 5), a = multiply(x, x), b = multiply(y, y);
  std::vector<Array> results = bench.run(graph, {{"x", x}, {"y", y}}, {"p", "q"});
  expect_near(results[0], add(a, negate(b)), "p");
  expect_near(results[1], add(b, negate(a)), "q");
}

void long_chain(const Bench& bench) {
  GraphText graph;
  graph.input("x", {8}).output("v60", {8}).weights("w", {8}, {1, -1, 1, -1, 1, -1, 1, -1});
  Array x = ramp({8}), w{{8}, {1, -1, 1, -1, 1, -1, 1, -1}}, wanted = x;
  std::string value = "x";
  for (int i = 1; i <= 60; i++) {
    std::string next = "v" + std::to_string(i);
    graph.node(i % 3 == 0 ? "Add" : "Mul", {value, "w"}, {next});
    wanted = i % 3 == 0 ? add(wanted, w) : multiply(wanted, w);
    value = next;
  }
  expect_near(bench.run(graph, {{"x", x}}, {"v60"})[0], wanted, "v60");
}

void initializer_as_input(const Bench& bench) {
  GraphText graph;
  graph.input("x", {2}).input("w", {2}).output("z", {2}).weights("w", {2}, {2, 3}).node("Mul", {"x", "w"}, {"z"});
  Array x = ramp({2}), own{{2}, {2, 3}}, other{{2}, {10, 20}};
  expect_near(bench.run(graph, {{"x", x}}, {"z"})[0], multiply(x, own), "z");
  expect_near(bench.run(graph, {{"x", x}, {"w", other}}, {"z"})[0], multiply(x, other), "z");
}

GraphText branch(const char* type) {
  GraphText graph;
  graph.output("r", {2}).node(type, {"a", "y"}, {"r"});
  return graph;
}

void if_branches(const Bench& bench) {
  GraphText graph;
  graph.input("c", {}, kBool).input("x", {2}).input("y", {2}).output("z", {2});
  graph.node("Add", {"x", "y"}, {"a"});
  graph.node("If", {"c"}, {"z"}, {{"then_branch", branch("Mul")}, {"else_branch", branch("Add")}});
  Handle<OrtSessionOptions> options = bench.runtime.options_with(bench.provider);
  Handle<OrtSession> session = bench.runtime.session(graph, options.get());
  Array x = ramp({2}), y = ramp({2}, 4), a = add(x, y);
  for (bool truth : {true, false, true}) {
    Handle<OrtValue> c = bench.runtime.value(truth), xs = bench.runtime.value(x), ys = bench.runtime.value(y);
    std::vector<OrtValue*> results;
    bench.runtime.ok(
        bench.runtime.try_run(session.get(), {{"c", c.get()}, {"x", xs.get()}, {"y", ys.get()}}, {"z"}, results));
    Handle<OrtValue> z(results[0], bench.runtime.api->ReleaseValue);
    expect_near(bench.runtime.array(z.get()), truth ? multiply(a, y) : add(a, y), "z");
  }
}

void loop_body(const Bench& bench) {
  GraphText body;
  body.input("i", {}, kInt64).input("go", {}, kBool).input("v", {2});
  body.output("go_on", {}, kBool).output("w", {2}).output("s", {2});
  body.node("Identity", {"go"}, {"go_on"}).node("Mul", {"v", "x"}, {"w"}).node("Add", {"w", "x"}, {"s"});
  GraphText graph;
  graph.input("x", {2}).output("last", {2}).output("all", {-1, 2});
  graph.initializer<int64_t>("n", {}, {3}, kInt64).initializer<uint8_t>("yes", {}, {1}, kBool);
  graph.node("Loop", {"n", "yes", "x"}, {"last", "all"}, {{"body", body}});
  Array x{{2}, {2, 3}};
  std::vector<Array> results = bench.run(graph, {{"x", x}}, {"last", "all"});
  expect_near(results[0], {{2}, {16, 81}}, "last");
  expect_near(results[1], {{3, 2}, {6, 12, 10, 30, 18, 84}}, "all");
}

struct Row {
  const char* name;
  Check check;
};

constexpr Row kRows[] = {
    {"one node", one_node},
    {"one input twice", one_input_twice},
    {"weights", weights},
    {"weights that the runtime keeps", weights_kept},
    {"weights shared with the CPU", weights_shared_with_the_cpu},
    {"CPU nodes between", cpu_between},
    {"CPU nodes first and last", cpu_first_and_last},
    {"several outputs in any order", several_outputs},
    {"broadcasting", broadcasting},
    {"scalars", scalars},
    {"tensors without elements", no_elements},
    {"shapes that change", dynamic_shapes},
    {"optional inputs left out", optional_inputs},
    {"groups that must not close a cycle", a_cycle_avoided},
    {"groups that cross", two_groups_that_cross},
    {"a long chain", long_chain},
    {"an initializer that is an input", initializer_as_input},
    {"branches of If", if_branches},
    {"the body of Loop", loop_body},
};

}  // namespace

void check_results(Suite& suite, Runtime& runtime) {
  for (const Row& row : kRows) {
    suite.check(std::string("results of groups: ") + row.name, 23, [&] { row.check({runtime, kCompileProvider}); });
  }
  for (const Row& row : kRows) {
    suite.check(std::string("results of kernels: ") + row.name, 24, [&] { row.check({runtime, kKernelProvider}); });
  }
  suite.check("results: a provider that takes nothing leaves all to the CPU", 22, [&] {
    GraphText graph;
    graph.input("x", {2}).output("z", {2}).node("Neg", {"x"}, {"z"});
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    if (runtime.level < 23) return runtime.api->ReleaseStatus(runtime.try_session(graph, options.get()));
    Handle<OrtSession> session = runtime.session(graph, options.get());
    expect_near(runtime.run(session.get(), {{"x", ramp({2})}}, {"z"})[0], negate(ramp({2})), "z");
  });
  suite.check("results: of two providers in one session", 24, [&] {
    if (!runtime.ours) return;  // the official library gives one provider the stream and the memory of the other
    GraphText graph;
    graph.input("x", {4}).output("z", {4});
    graph.node("Mul", {"x", "x"}, {"m"}).node("Add", {"m", "x"}, {"a"});  // a group; single nodes go to the kernels
    graph.node("Neg", {"a"}, {"b"}).node("Add", {"b", "x"}, {"c"}).node("Neg", {"c"}, {"d"});
    graph.node("Mul", {"d", "a"}, {"z"});
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"min_group_size", "2"}});
    runtime.ok(runtime.append(options.get(), {runtime.device(kKernelProvider)}));
    Handle<OrtSession> session = runtime.session(graph, options.get());
    std::map<std::string, std::vector<std::string>> placement = runtime.placement(session.get());
    expect_equal(placement[kCompileProvider].size(), size_t{2}, "nodes of the one provider");
    expect_equal(placement[kKernelProvider].size(), size_t{2}, "nodes of the other");
    Array x = ramp({4}), a = add(multiply(x, x), x);
    expect_near(runtime.run(session.get(), {{"x", x}}, {"z"})[0], multiply(negate(add(negate(a), x)), a), "z");
  });
}

}  // namespace ortolan::plugin_test
