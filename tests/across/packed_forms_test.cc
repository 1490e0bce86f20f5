// The names of packed forms: whatever changes the packed bytes changes the name.
#include "cpu/products/packed_form.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/cpu_features.h"
#include "cpu/convolution/convolution_geometry.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"
#include "cpu/quantised/nbits_weights.h"

namespace ortolan::cpu {
namespace {

template <class... Names>
void expect_apart(const Names&... names) {
  EXPECT_EQ((std::set<std::string>{names...}.size()), sizeof...(names));
}

TEST(PackedForms, AreNamedByPackerAndParameters) {
  expect_apart(form_name("a"), form_name("b"), form_name("a", 1), form_name("a", 2), form_name("a", 1, 2),
               form_name("a", 12), form_name("a", true), form_name("a", false), form_name("a", Shape{1, 2}),
               form_name("a", Shape{12}));
  using kernels::Cell;
  expect_apart(form_name("cell", Cell::kLstm, 48, 0), form_name("cell", Cell::kGru, 48, 0),
               form_name("cell", Cell::kLstm, 64, 0), form_name("cell", Cell::kLstm, 48, 1));
}

TEST(PackedForms, AreNamedByPrecisionAndInstructionSet) {
  std::set<std::string> names;
  size_t count = 0;
  for (const auto& [level, isa] : base::isa_levels()) {
    if (!kernels::use_isa(level)) continue;
    for (auto precision : {base::Fp32Precision::kX6, base::Fp32Precision::kExact, base::Fp32Precision::kX3,
                           base::Fp32Precision::kBf16}) {
      for (bool denormals_are_zero : {false, true}) {
        const base::ScopedRunScope scope({.precision = precision, .denormals_are_zero = denormals_are_zero});
        names.insert(form_name("a"));
        ++count;
      }
    }
  }
  kernels::use_isa(base::cpu_features().isa);
  EXPECT_EQ(names.size(), count);
}

TEST(PackedForms, OfConvolutionsAreNamedByAllThatPackingReads) {
  ConvForm form;
  form.geometry.in_channels = form.geometry.out_channels = 64;
  const std::function<void(ConvForm&)> changes[] = {
      [](ConvForm& f) { f.geometry.groups = 2; },        [](ConvForm& f) { f.geometry.in_channels = 32; },
      [](ConvForm& f) { f.geometry.out_channels = 32; }, [](ConvForm& f) { f.geometry.kernel[1] = 3; },
      [](ConvForm& f) { f.geometry.kernel[2] = 3; },     [](ConvForm& f) { f.geometry.stride[0] = 2; },
      [](ConvForm& f) { f.geometry.stride[1] = 2; },     [](ConvForm& f) { f.geometry.stride[2] = 2; },
      [](ConvForm& f) { f.geometry.dilation[0] = 2; },   [](ConvForm& f) { f.geometry.dilation[1] = 2; },
      [](ConvForm& f) { f.geometry.dilation[2] = 2; },   [](ConvForm& f) { f.geometry.kernel[0] = 3; }};
  std::set<std::string> names{form_name("conv", form)};
  for (const auto& change : changes) {
    ConvForm changed = form;
    change(changed);
    names.insert(form_name("conv", changed));
  }
  EXPECT_EQ(names.size(), 1 + std::size(changes));
}

// Whether a 3x3 convolution of stride 2 is worth the transform depends on how large its result is.
TEST(PackedForms, OfConvolutionsAreNamedByTheMethod) {
  for (int64_t positions : {0, 1, 16, 10000}) {
    for (int64_t stride : {1, 2}) {
      ConvForm form, other;
      for (ConvForm* f : {&form, &other}) {
        f->geometry.in_channels = f->geometry.out_channels = 128;
        f->geometry.kernel[1] = f->geometry.kernel[2] = 3;
        f->geometry.stride[1] = f->geometry.stride[2] = stride;
      }
      form.packing.positions = positions;
      const auto a = kernels::conv_method(form.geometry, form.packing);
      const auto b = kernels::conv_method(other.geometry, other.packing);
      const bool alike = a.slices == b.slices && a.winograd == b.winograd;
      EXPECT_EQ(form_name("conv", form) == form_name("conv", other), alike) << positions << ", stride " << stride;
    }
  }
}

TEST(PackedForms, OfNarrowWeightsAreNamedByTheirFormat) {
  const auto name = [](int bits, int64_t n, int64_t k, int64_t block) {
    return form_name("nbits", NBitsFormat{bits, n, k, block});
  };
  expect_apart(name(4, 64, 256, 32), name(8, 64, 256, 32), name(4, 32, 256, 32), name(4, 64, 128, 32),
               name(4, 64, 256, 16));
}

}  // namespace
}  // namespace ortolan::cpu
