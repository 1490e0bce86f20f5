// Models in ORT format, table by table.
#pragma once

#include <string>

#include "flat_writer.h"

namespace ortolan::onnx {

inline void add_float_value(FlatWriter& out, size_t table, const std::string& name) {
  out.text(table, 0, name);
  size_t type = out.table(table, 2);
  out.number<uint8_t>(type, 1, 1);
  size_t tensor = out.table(type, 2);
  out.number<int32_t>(tensor, 0, 1);
  auto dims = out.tables(out.table(tensor, 1), 0, 2);
  size_t symbol = out.table(dims[0], 0), number = out.table(dims[1], 0);
  out.number<int8_t>(symbol, 0, 2);
  out.text(symbol, 2, "N");
  out.number<int8_t>(number, 0, 1);
  out.number<int64_t>(number, 1, 2);
}

inline void add_weight(FlatWriter& out, size_t table) {
  out.text(table, 0, "w");
  out.numbers<int64_t>(table, 2, {1, 2});
  out.number<int32_t>(table, 3, 1);
  out.numbers<float>(table, 4, {5, 6});
}

inline void add_vector_size(FlatWriter& out, size_t tensor) {
  out.numbers<uint8_t>(tensor, 4, {0, 0, 160, 64, 0, 0, 192, 64});
}

/** A table of the graph, so that tests may add to it. */
struct OrtModel {
  FlatWriter out;
  size_t graph = 0;
  size_t weight = 0;
};

/** y[N,2] = Concat(x[N,2], w[1,2]) along axis 0. */
inline OrtModel concat_model() {
  OrtModel made;
  FlatWriter& out = made.out;
  size_t model = out.table(out.root(), 1);
  out.number<int64_t>(model, 0, 8);
  size_t import = out.tables(model, 1, 1)[0];
  out.text(import, 0, "");
  out.number<int64_t>(import, 1, 13);
  out.text(model, 2, "ort_format_test");
  size_t entry = out.tables(model, 9, 1)[0];
  out.text(entry, 0, "key");
  out.text(entry, 1, "value");
  made.graph = out.table(model, 7);
  auto values = out.tables(made.graph, 1, 2);
  add_float_value(out, values[0], "x");
  add_float_value(out, values[1], "y");
  out.texts(made.graph, 5, {"x"});
  out.texts(made.graph, 6, {"y"});
  made.weight = out.tables(made.graph, 0, 1)[0];
  add_weight(out, made.weight);
  add_vector_size(out, made.weight);
  size_t node = out.tables(made.graph, 2, 1)[0];
  out.text(node, 0, "join");
  out.text(node, 5, "Concat");
  out.texts(node, 8, {"x", "w"});
  out.texts(node, 9, {"y"});
  size_t axis = out.tables(node, 10, 1)[0];
  out.text(axis, 0, "axis");
  out.number<int32_t>(axis, 2, 2);
  out.number<int64_t>(axis, 4, 0);
  return made;
}

}  // namespace ortolan::onnx
