// What the reader refuses, and in which words.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "model_builder.h"

namespace ortolan::onnx {
namespace {

namespace fs = std::filesystem;

#define EXPECT_REFUSED(bytes, wanted_code, part)                     \
  do {                                                               \
    Refusal seen = refusal(bytes);                                   \
    EXPECT_EQ(seen.code, wanted_code) << seen.text;                  \
    EXPECT_NE(seen.text.find(part), std::string::npos) << seen.text; \
  } while (false)

GraphText relu_graph() { return GraphText().input("x").node({"Relu", {"x"}, {"y"}, "relu"}).output("y"); }

/** A model whose only initializer is `tensor`. */
std::string with_tensor(WireWriter tensor) {
  return ModelText(GraphText().initializer(std::move(tensor)).node({"Identity", {"w"}, {"y"}}).output("y")).bytes();
}

TEST(BadModel, NoModel) {
  EXPECT_REFUSED("", ErrorCode::kInvalidArgument, "the model is empty: it has no bytes");
  WireWriter nothing;
  nothing.integer(1, 8);
  EXPECT_REFUSED(bytes_of(nothing), ErrorCode::kInvalidArgument, "the model is empty: it has no graph");
  EXPECT_REFUSED("hello, I am text and no model", ErrorCode::kInvalidProtobuf, "the file is damaged, cut off");
  EXPECT_REFUSED("version https://git-lfs.github.com/spec/v1\n", ErrorCode::kInvalidProtobuf, "git lfs pull");
  EXPECT_REFUSED(ModelText(GraphText()).bytes(), ErrorCode::kInvalidArgument, "the graph has no outputs");
  EXPECT_REFUSED(ModelText(relu_graph(), 99).bytes(), ErrorCode::kInvalidGraph, "its ir_version 99 is newer than");
}

TEST(BadModel, Files) {
  auto text_of = [](const char* path) {
    try {
      read_model_file(path);
    } catch (const Error& error) {
      return join(error.code(), " ", error.text());
    }
    return std::string("no error");
  };
  EXPECT_EQ(text_of("/no/such.onnx"),
            "3 cannot load model '/no/such.onnx': the file '/no/such.onnx' does not exist; check the path");
  EXPECT_NE(text_of("/usr").find("is a directory, not a regular file"), std::string::npos);
  EXPECT_NE(text_of("/dev/zero").find("is special, not a regular file"), std::string::npos);
}

TEST(BadModel, Opsets) {
  WireWriter none;
  none.integer(1, 8);
  none.message(7, std::move(relu_graph().out));
  EXPECT_REFUSED(bytes_of(none), ErrorCode::kInvalidGraph, "it imports no operator set");
  EXPECT_REFUSED(ModelText(relu_graph()).import("x", INT64_MIN).bytes(), ErrorCode::kInvalidGraph,
                 "the opset import of domain 'x' has version -9223372036854775808");
  for (int64_t version : {0, -1}) {
    EXPECT_EQ(refusal(ModelText(relu_graph()).import("x", version).bytes()).text, "") << "no node of the domain";
    EXPECT_REFUSED(ModelText(relu_graph().node({"Own", {"x"}, {"z"}, "n", "x"})).import("x", version).bytes(),
                   ErrorCode::kInvalidGraph, join("its domain 'x' is imported with version ", version));
  }
  EXPECT_REFUSED(ModelText(relu_graph().node({"Own", {"x"}, {"z"}, "n", "my.ops"})).bytes(), ErrorCode::kInvalidGraph,
                 "node 'n' (Own): its domain 'my.ops' is not imported");
}

TEST(BadModel, Names) {
  EXPECT_REFUSED(ModelText(relu_graph().node({"Neg", {"nowhere"}, {"z"}, "neg"})).bytes(), ErrorCode::kInvalidGraph,
                 "node 'neg' (Neg): its input 'nowhere' is made by no node");
  EXPECT_REFUSED(ModelText(relu_graph().node({"Neg", {"x"}, {"y"}, "neg"})).bytes(), ErrorCode::kInvalidGraph,
                 "node 'neg' (Neg): the name 'y' is defined twice in graph 'g'");
  EXPECT_REFUSED(ModelText(relu_graph().input("x")).bytes(), ErrorCode::kInvalidGraph, "the name 'x' is defined twice");
  EXPECT_REFUSED(ModelText(relu_graph().output("z")).bytes(), ErrorCode::kInvalidGraph, "the output 'z' of graph 'g'");
  EXPECT_REFUSED(ModelText(relu_graph().node({"", {"x"}, {"z"}})).bytes(), ErrorCode::kInvalidGraph,
                 "it has no operator type");
  EXPECT_REFUSED(
      ModelText(relu_graph().node({"Neg", {"a"}, {"b"}, "first"}).node({"Neg", {"b"}, {"a"}, "second"})).bytes(),
      ErrorCode::kInvalidGraph, "the graph has a cycle");
  EXPECT_REFUSED(ModelText(relu_graph().node(NodeText("Neg", {"x"}, {"z"}).integer("a", 1).integer("a", 2))).bytes(),
                 ErrorCode::kInvalidGraph, "attribute 'a' is given twice");
}

TEST(BadModel, TensorSizes) {
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {2, 3}, "short")), ErrorCode::kInvalidGraph,
                 "tensor 'w': its shape [2,3] of float needs 24 bytes, but raw_data holds 5");
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {2, -3}, "")), ErrorCode::kInvalidArgument, "dimension -3 is negative");
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {1LL << 40, 1LL << 40}, "")), ErrorCode::kInvalidArgument, "overflows");
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {1LL << 36}, "")), ErrorCode::kInvalidGraph, "needs 68719476736 elements");
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {1LL << 60}, "")), ErrorCode::kInvalidGraph, "more than the limit");
  EXPECT_REFUSED(with_tensor(raw_tensor("w", {1}, "", 77)), ErrorCode::kInvalidGraph, "its element type 77 is unknown");
  WireWriter both = raw_tensor("w", {1}, "1234");
  both.text(9, "5678");
  EXPECT_REFUSED(with_tensor(std::move(both)), ErrorCode::kInvalidGraph, "tensor 'w': its raw_data is given twice");
  WireWriter wrong = raw_tensor("w", {1}, "");
  wrong.packed(7, std::vector<int64_t>{1});
  EXPECT_REFUSED(with_tensor(std::move(wrong)), ErrorCode::kInvalidGraph,
                 "elements of float must be in raw_data or float_data, but are in int64_data");
  WireWriter large = raw_tensor("w", {1}, "", 3);
  large.packed(5, std::vector<int64_t>{1000});
  EXPECT_REFUSED(with_tensor(std::move(large)), ErrorCode::kInvalidGraph, "int32_data holds 1000, which does not fit");
}

TEST(BadModel, SparseTensors) {
  auto sparse = [](int64_t index, std::initializer_list<int64_t> dims) {
    WireWriter indices = raw_tensor("", {1}, "", 7), out;
    indices.packed(7, std::vector<int64_t>{index});
    out.message(1, raw_tensor("w", {1}, "1234"));
    out.message(2, std::move(indices));
    out.packed(3, std::vector<int64_t>(dims));
    return ModelText(GraphText().add(15, std::move(out)).node({"Identity", {"w"}, {"y"}}).output("y")).bytes();
  };
  EXPECT_EQ(refusal(sparse(3, {4})).text, "");
  EXPECT_REFUSED(sparse(4, {4}), ErrorCode::kInvalidGraph, "a sparse tensor's index 4 is outside [0, 3]");
  EXPECT_REFUSED(sparse(-1, {4}), ErrorCode::kInvalidGraph, "a sparse tensor's index -1 is outside");
  EXPECT_REFUSED(sparse(3, {1LL << 38}), ErrorCode::kInvalidGraph, "when made dense; the limit for all of them");
}

struct ExternalFolder : ::testing::Test {
  fs::path folder = fs::temp_directory_path() / ("ortolan_external_" + std::to_string(getpid()));
  ExternalFolder() {
    fs::create_directories(folder / "model" / "sub");
    write("model/data", std::string(64, 'd'));
    write("model/sub/data", std::string(64, 's'));
    write("secret", std::string(64, 'x'));
    fs::create_symlink(folder / "secret", folder / "model" / "link");
    fs::create_symlink(folder, folder / "model" / "folderlink");
  }
  ~ExternalFolder() override { fs::remove_all(folder); }
  void write(const char* name, const std::string& bytes) { std::ofstream(folder / name, std::ios::binary) << bytes; }
  /** The error of a model with external data at `location`, "" when it loads. */
  std::string load(std::string_view location, std::string_view offset = "0", std::string_view length = "16") {
    return load_at("model/m.onnx", "model/m.onnx", location, offset, length);
  }
  /** The same with the model's bytes written to `file` and read through `path`. */
  std::string load_at(const char* file, const char* path, std::string_view location, std::string_view offset = "0",
                      std::string_view length = "16") {
    WireWriter tensor = raw_tensor("w", {4}, "");
    for (auto [key, value] : {std::pair{std::string_view("location"), location},
                              {"offset", offset},
                              {"length", length},
                              {"prepacked_0", "ignored"}}) {
      WireWriter entry;
      entry.text(1, key);
      entry.text(2, value);
      if (!value.empty()) tensor.message(13, std::move(entry));
    }
    tensor.integer(14, 1);
    write(file, with_tensor(std::move(tensor)));
    try {
      auto model = read_model_file((folder / path).string(), options);
      first = *static_cast<const char*>(model->graph->find("w")->constant->raw());
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }
  ReadOptions options;
  char first = 0;
};

TEST_F(ExternalFolder, StaysInTheModelsFolder) {
  EXPECT_EQ(load("data"), "");
  EXPECT_EQ(first, 'd');
  EXPECT_EQ(load("sub/data"), "");
  EXPECT_EQ(first, 's');
  EXPECT_EQ(load("./data", "48", ""), "");
  auto refused = [&](std::string_view location, const char* part, std::string_view offset = "0",
                     std::string_view length = "16") {
    std::string text = load(location, offset, length);
    EXPECT_NE(text.find(part), std::string::npos) << location << ": " << text;
  };
  refused("../secret", "leads out of the model's folder");
  refused("sub/../../secret", "leads out of the model's folder");
  refused((folder / "secret").string(), "is an absolute path");
  refused("link", "leads through a symbolic link");
  refused("folderlink/secret", "leads through a symbolic link");
  refused("sub", "is a directory, not a regular file");
  refused("none", "does not exist");
  refused("*/_ORT_MEM_ADDR_/*", "does not exist");
  refused("data", "are outside the file 'data' of 64 bytes", "56");
  refused("data", "are outside the file", "9223372036854775807");
  refused("data", "must be a whole number", "-1");
  refused("data", "must be a whole number", "99999999999999999999");
  refused("data", "its length in 'data' is 17 bytes, but its type and shape need 16", "0", "17");
  refused("", "the location is empty");
}

TEST_F(ExternalFolder, LinksAreFollowedToFilesBeneathTheFolder) {
  fs::create_symlink("data", folder / "model" / "beside");
  fs::create_symlink(folder / "model" / "sub" / "data", folder / "model" / "absolute");
  fs::create_symlink("../beside", folder / "model" / "sub" / "chain");
  fs::create_hard_link(folder / "model" / "data", folder / "model" / "hard");
  for (auto [location, holds] : {std::pair{"beside", 'd'}, {"absolute", 's'}, {"sub/chain", 'd'}, {"hard", 'd'}}) {
    EXPECT_EQ(load(location), "") << location;
    EXPECT_EQ(first, holds) << location;
  }
  fs::create_symlink(folder / "model", folder / "way");
  EXPECT_EQ(load_at("model/m.onnx", "way/m.onnx", "beside"), "") << "the folder itself may be a link";
}

TEST_F(ExternalFolder, ModelHubsKeepModelAndDataAsLinksToOneFolder) {
  fs::create_directories(folder / "hub" / "blobs");
  fs::create_directories(folder / "hub" / "snapshots" / "rev");
  write("hub/blobs/22", std::string(64, 'b'));
  fs::create_symlink("../../blobs/11", folder / "hub/snapshots/rev/model.onnx");
  fs::create_symlink("../../blobs/22", folder / "hub/snapshots/rev/model.onnx_data");
  EXPECT_EQ(load_at("hub/blobs/11", "hub/snapshots/rev/model.onnx", "model.onnx_data"), "");
  EXPECT_EQ(first, 'b');
  fs::create_symlink("../../../secret", folder / "hub/snapshots/rev/out");
  EXPECT_NE(load_at("hub/blobs/11", "hub/snapshots/rev/model.onnx", "out").find("leads through a symbolic link"),
            std::string::npos);
  fs::remove(folder / "hub/snapshots/rev/model.onnx");
  EXPECT_NE(load_at("hub/snapshots/rev/model.onnx", "hub/snapshots/rev/model.onnx", "model.onnx_data")
                .find("leads through a symbolic link"),
            std::string::npos)
      << "the model is no link, so its data's target is in no folder of it";
}

TEST_F(ExternalFolder, LinksToOtherThingsThanFilesAreRefused) {
  fs::create_symlink("nothing", folder / "model" / "dangling");
  fs::create_symlink("loop_b", folder / "model" / "loop_a");
  fs::create_symlink("loop_a", folder / "model" / "loop_b");
  fs::create_symlink("sub", folder / "model" / "to_folder");
  fs::create_symlink(".", folder / "model" / "to_itself");
  fs::create_symlink("/dev/zero", folder / "model" / "to_device");
  ASSERT_EQ(mkfifo((folder / "model" / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder / "model" / "to_pipe");
  fs::create_symlink(folder / "modelled", folder / "model" / "to_longer_name");
  write("modelled", std::string(64, 'l'));
  for (auto [location, part] : {std::pair{"dangling", "does not exist"},
                                {"loop_a", "leads through a symbolic link"},
                                {"to_folder", "is a directory, not a regular file"},
                                {"to_folder/data", "leads through a symbolic link"},
                                {"to_itself", "leads through a symbolic link"},
                                {"to_device", "leads through a symbolic link"},
                                {"pipe", "is special, not a regular file"},
                                {"to_pipe", "is special, not a regular file"},
                                {"to_longer_name", "leads through a symbolic link"}}) {
    std::string text = load(location);
    EXPECT_NE(text.find(part), std::string::npos) << location << ": " << text;
  }
}

TEST_F(ExternalFolder, FilesInMemoryComeFirst) {
  std::string held(16, 'm');
  options.external_files["data"] = {std::as_bytes(std::span(held)), nullptr};
  EXPECT_EQ(load("data"), "");
  EXPECT_EQ(first, 'm');
}

TEST(BadModel, Depth) {
  auto nested = [](int depth) {
    GraphText graph;
    graph.node({"Neg", {"x"}, {"y"}}).output("y");
    for (int i = 0; i < depth; ++i) {
      GraphText around;
      around.node(NodeText("If", {"x"}, {"y"}).graph("then_branch", std::move(graph.out))).output("y");
      graph = std::move(around);
    }
    graph.input("x");
    return ModelText(std::move(graph)).bytes();
  };
  EXPECT_EQ(refusal(nested(32)).text, "");
  EXPECT_REFUSED(nested(33), ErrorCode::kInvalidGraph, "subgraphs are nested deeper than 32");
  EXPECT_REFUSED(nested(1000), ErrorCode::kInvalidGraph, "subgraphs are nested deeper than 32");
  WireWriter type;
  type.integer(1, 1);
  for (int i = 0; i < 40; ++i) {
    WireWriter sequence, around;
    sequence.message(1, std::move(type));
    around.message(4, std::move(sequence));
    type = std::move(around);
  }
  WireWriter info;
  info.text(1, "deep");
  info.message(2, std::move(type));
  EXPECT_REFUSED(ModelText(relu_graph().add(11, std::move(info))).bytes(), ErrorCode::kInvalidGraph,
                 "a type is nested deeper than 32");
}

/** A model that calls function f0; each f(i) calls f(i+1) `calls` times, the last is a Neg. */
std::string chain(int length, int calls, bool closed = false) {
  ModelText model(GraphText().input("x").node({"f0", {"x"}, {"y"}, "call", "own"}).output("y"));
  model.import("own", 1);
  for (int i = 0; i < length; ++i) {
    FunctionText function("f" + std::to_string(i), {"a"}, {"b"});
    bool last = i + 1 == length;
    std::string next = last && !closed ? "Neg" : "f" + std::to_string(last ? 0 : i + 1);
    std::string from = "a";
    for (int call = 0; call < calls; ++call) {
      std::string to = call + 1 == calls ? "b" : "t" + std::to_string(call);
      function.node({next, {from}, {to}, "", last && !closed ? "" : "own"});
      from = to;
    }
    model.function(std::move(function));
  }
  return model.bytes();
}

TEST(BadModel, Functions) {
  EXPECT_EQ(refusal(chain(256, 1)).text, "");
  EXPECT_REFUSED(chain(257, 1), ErrorCode::kInvalidGraph, "function calls are nested deeper than 256");
  EXPECT_REFUSED(chain(3, 1, true), ErrorCode::kInvalidGraph, "function 'own.f0' calls itself");
  ReadOptions few;
  few.max_nodes = 10000;
  EXPECT_NE(refusal(chain(20, 10), few).text.find("more than 10000 nodes"), std::string::npos);
  few = {};
  few.max_inlined_bytes = 100000;
  EXPECT_NE(refusal(chain(20, 10), few).text.find("inlined to more than 100000 bytes"), std::string::npos);
  FunctionText wrong("f", {"a"}, {"b"});
  EXPECT_REFUSED(ModelText(GraphText().input("x").node({"f", {"x"}, {"y"}, "n", "own"}).output("y"))
                     .import("own", 1)
                     .function(std::move(wrong))
                     .bytes(),
                 ErrorCode::kInvalidGraph, "node 'n' (f): function 'own.f': its output 'b' is made by no node");
  FunctionText one("f", {"a"}, {"b"});
  one.node({"Neg", {"a"}, {"b"}});
  EXPECT_REFUSED(ModelText(GraphText().input("x").node({"f", {"x", "x"}, {"y"}, "n", "own"}).output("y"))
                     .import("own", 1)
                     .function(std::move(one))
                     .bytes(),
                 ErrorCode::kInvalidGraph, "it has 2 inputs and 1 outputs, but function 'own.f' has 1 and 1");
}

/** A model with most kinds of content. */
std::string rich_model() {
  GraphText inner;
  inner.node({"Neg", {"x"}, {"n"}}).output("n");
  FunctionText function("f", {"a"}, {"b"});
  function.node({"Neg", {"a"}, {"b"}});
  return ModelText(GraphText()
                       .input("x")
                       .initializer(raw_tensor("w", {2}, "12345678"))
                       .node(NodeText("If", {"x"}, {"y"}).graph("then_branch", std::move(inner.out)))
                       .node(NodeText("Add", {"y", "w"}, {"z"}).integer("axis", 3))
                       .node({"f", {"z"}, {"u"}, "call", "own"})
                       .output("u"))
      .import("own", 1)
      .function(std::move(function))
      .bytes();
}

TEST(BadModel, EveryTruncationIsRefused) {
  std::string whole = rich_model();
  ASSERT_EQ(refusal(whole).text, "");
  int refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) refused += refusal(whole.substr(0, size)).code != ErrorCode::kOk;
  EXPECT_GT(refused, static_cast<int>(whole.size() * 9 / 10));
}

TEST(BadModel, RandomDamageNeverCrashes) {
  const std::string whole = rich_model();
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = whole;
    for (unsigned i = 0, count = random() % 4 + 1; i < count; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random() % 3 ? random() : 0xff);
    }
    refusal(damaged);
  }
  for (int round = 0; round < 5000; ++round) {
    std::string noise(random() % 200, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    EXPECT_NE(refusal(noise).code, ErrorCode::kOk);
  }
}

}  // namespace
}  // namespace ortolan::onnx
