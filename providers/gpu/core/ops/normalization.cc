// Normalisations by channel: BatchNormalization (inference), InstanceNormalization, GroupNormalization; of sets of
// elements: MeanVarianceNormalization, LpNormalization; and LRN.
#include "gpu/core/elements/reduced_axes.h"
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

std::string refuse_input(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

std::string refuse_ranked(const Candidate& candidate) {
  if (candidate.rank(0) > 8) return "the input's rank is " + std::to_string(candidate.rank(0)) + "; at most 8 is taken";
  return refuse_input(candidate);
}

std::string refuse_parameters(const Candidate& candidate) {
  for (size_t i = 1; i < candidate.node().inputs.size(); i++) {
    if (candidate.has(i) && candidate.type(i) != candidate.type(0))
      return "input " + std::to_string(i) + " is " + type_name(candidate.type(i)) + ", input 0 is " +
             type_name(candidate.type(0)) + "; equal types are taken";
  }
  return refuse_input(candidate);
}

std::string refuse_batch(const Candidate& candidate) {
  const Node& node = candidate.node();
  for (size_t i = 1; i < node.outputs.size(); i++) {
    if (node.has_output(i)) return "it has statistics as outputs, which training wants; inference is taken";
  }
  if (node.integer("training_mode", 0) != 0) return "training_mode is set; inference is taken";
  return refuse_parameters(candidate);
}

/** The input as rows of `inner` elements, each of a channel. */
struct Channels {
  int64_t channels = 1, inner = 1, rows = 1;

  explicit Channels(const Shape& x, bool spatial = true) {
    size_t rank = x.size();
    channels = rank < 2 ? 1 : element_count(x, 1, spatial ? 2 : rank);
    inner = rank < 2 ? 1 : element_count(x, spatial ? 2 : rank, rank);
    rows = (rank == 0 ? 1 : x[0]) * channels;
  }
};

struct Moments {
  Memory mean, spread;
  int64_t each = 1;  // rows that have the same
  bool of_channels = false;
};

/** Elements of a parameter for one channel each, or for `groups` equal parts of them; gives the channels of an element.
 */
int64_t sharing(const Lowering& l, size_t i, int64_t channels, int64_t groups) {
  int64_t count = l.count(i);
  if (count == channels) return 1;
  if (count == groups && count > 0) return channels / groups;
  l.fail("input " + std::to_string(i) + " has " + std::to_string(count) + " elements; it needs " +
         std::to_string(channels) + ", one for each channel");
}

void normalize(Lowering& l, const Channels& c, const Moments& moments, int64_t shared_by) {
  bool half = l.type(0) == ElementType::kFloat16;
  int64_t count = c.rows * c.inner;
  bool wide = l.traits().kind == DeviceClass::kWide && !half && c.inner >= l.traits().vector_width;
  Memory x = l.input(0), scale = l.input(1), bias = l.input(2), y = l.output(0, l.shape(0));
  l.call("normalize_channels")
      .group(wide ? 1 : 64)
      .constant("HALF", half)
      .constant("BATCH", moments.of_channels)
      .constant("WIDE", wide)
      .read(x)
      .read(scale)
      .read(bias)
      .read(moments.mean)
      .read(moments.spread)
      .write(y)
      .params(count, c.inner, c.channels, moments.each, shared_by, l.node().number("epsilon", 1e-5f))
      .run_items(count == 0 ? 0
                 : wide     ? c.rows
                            : count);
}

void lower_batch(Lowering& l) {
  Channels c(l.shape(0), l.node().since_version >= 9 || l.node().integer("spatial", 1) != 0);
  for (size_t i = 1; i < 5; i++) sharing(l, i, c.channels, 0);
  Moments moments{l.input(3), l.input(4), 1, true};
  normalize(l, c, moments, 1);
}

/** Moments of rows of `columns` elements that follow one another. */
Moments row_moments(Lowering& l, int64_t rows, int64_t columns) {
  size_t bytes = static_cast<size_t>(rows) * sizeof(float);
  Memory x = l.input(0);
  Moments moments{l.scratch(bytes), l.scratch(bytes), 1, false};
  bool half = l.type(0) == ElementType::kFloat16;
  KernelCall call = l.call("layer_norm");
  call.row_group(columns).constant("HALF", half).constant("MOMENTS", 1).constant("ONLY_MOMENTS", 1);
  call.constant("WIDE", l.traits().kind == DeviceClass::kWide && !half);
  for (int i = 0; i < 5; i++) call.read(x);
  call.write(l.scratch(4)).write(moments.mean).write(moments.spread).write(l.scratch(4));
  call.params(columns, 1, l.node().number("epsilon", 1e-5f)).run(rows);
  return moments;
}

void lower_grouped(Lowering& l, int64_t groups) {
  Channels c(l.shape(0));
  if (groups == 0) groups = c.channels;
  bool whole = groups > 0 && c.channels % groups == 0;
  if (!whole && c.channels > 0)
    l.fail(std::to_string(c.channels) + " channels are no multiple of num_groups " + std::to_string(groups));
  int64_t shared_by = sharing(l, 1, c.channels, groups);
  if (sharing(l, 2, c.channels, groups) != shared_by) l.fail("scale and bias differ in size");
  int64_t count = c.rows * c.inner;
  Moments moments;
  moments.mean = moments.spread = l.input(0);
  if (count > 0) {
    moments = row_moments(l, c.rows / c.channels * groups, c.channels / groups * c.inner);
    moments.each = c.channels / groups;
  }
  normalize(l, c, moments, shared_by);
}

void standardize(Lowering& l, const std::vector<bool>& is_reduced, int form) {
  ReducedAxes axes = reduced_axes(l.shape(0), is_reduced);
  Memory x = l.input(0), y = l.output(0, l.shape(0));
  l.call("standardize")
      .row_group(axes.reduced.count())
      .constant("HALF", l.type(0) == ElementType::kFloat16)
      .constant("FORM", form)
      .read(x)
      .write(y)
      .params(axes.reduced.count(), axes.kept.place_params(), axes.reduced.place_params())
      .run(l.count(0) == 0 ? 0 : axes.kept.count());
}

void lower_mean_variance(Lowering& l) {
  if (l.count(0) == 0) return void(l.output(0, l.shape(0)));
  size_t rank = l.shape(0).size();
  std::vector<int64_t> axes = l.node().integers("axes");
  if (!l.node().has_attribute("axes")) axes = {0, 2, 3};
  std::vector<bool> is_reduced(rank);
  for (int64_t axis : axes) is_reduced[l.axis(axis, rank)] = true;
  standardize(l, is_reduced, 0);
}

void lower_lp(Lowering& l) {
  size_t rank = l.shape(0).size();
  int64_t p = l.node().integer("p", 2);
  if (p != 1 && p != 2) l.fail("p is " + std::to_string(p) + "; it must be 1 or 2");
  std::vector<bool> is_reduced(rank);
  is_reduced[l.axis(l.node().integer("axis", -1), rank)] = true;
  standardize(l, is_reduced, static_cast<int>(p));
}

void lower_lrn(Lowering& l) {
  int64_t size = l.node().integer("size", 0), reach = size / 2;
  if (size <= 0) l.fail("size is " + std::to_string(size) + "; it must be positive");
  Channels c(l.shape(0));
  Memory x = l.input(0), y = l.output(0, l.shape(0));
  float scale = l.node().number("alpha", 1e-4f) / static_cast<float>(size);
  l.call("lrn")
      .group(64)
      .rounds(std::min(size, c.channels))
      .constant("HALF", l.type(0) == ElementType::kFloat16)
      .read(x)
      .write(y)
      .params(l.count(0), c.channels, c.inner, std::min((size - 1) / 2, c.channels), std::min(reach, c.channels),
              l.node().number("bias", 1.0f), scale, l.node().number("beta", 0.75f))
      .run_items(l.count(0));
}

constexpr Operator kRows[] = {
    {"", "BatchNormalization", 1, kNewest, refuse_batch, lower_batch},
    {"", "InstanceNormalization", 1, kNewest, refuse_parameters, [](Lowering& l) { lower_grouped(l, 0); }},
    {"", "GroupNormalization", 18, kNewest, refuse_parameters,
     [](Lowering& l) { lower_grouped(l, l.node().integer("num_groups", -1)); }},
    {"", "MeanVarianceNormalization", 9, kNewest, refuse_ranked, lower_mean_variance},
    {"", "LpNormalization", 1, kNewest, refuse_ranked, lower_lp},
    {"", "LRN", 1, kNewest, refuse_input, lower_lrn},
};

}  // namespace

std::span<const Operator> normalization_operators() { return kRows; }

}  // namespace ortolan::gpu
