// Tests of convolutions of bytes by Winograd's transforms against 64-bit sums: results must be exact.
#include "cpu/kernels/convolution_int8/winograd_int16.h"

#include "conv_int8_reference.h"
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"

namespace ortolan::cpu::kernels {
namespace {

class WinogradInt16 : public ByteTest {
 protected:
  void SetUp() override {
    ByteTest::SetUp();
    if (!IsSkipped() && kernels().gemm_int8->without_tiles().group != 2) GTEST_SKIP() << "products of four bytes";
  }
};

int outputs_of(const PackedConvWeightsInt8& packed) { return packed.storage()->winograd.outputs(); }

std::vector<ConvGeometry> geometries() {
  std::vector<ConvGeometry> all = {geometry(3, 8, 1, 12, 3, 1, 1, 1), geometry(16, 9, 1, 7, 3, 1, 1, 0),
                                   geometry(7, 5, 1, 30, 3, 1, 1, 1), geometry(17, 13, 1, 6, 3, 1, 1, 2),
                                   geometry(5, 60, 1, 1, 3, 1, 1, 1), geometry(12, 9, 1, 17, 3, 1, 1, 1)};
  ConvGeometry slices = geometry(6, 7, 1, 5, 3, 1, 1, 1);  // which padding surrounds
  slices.in[0] = 2, slices.out[0] = 4, slices.pad_begin[0] = 1;
  all.push_back(slices);
  ConvGeometry wide = geometry(4, 6, 1, 130, 3, 1, 1, 1);
  wide.in[1] = wide.out[1] = 3;
  all.push_back(wide);
  ConvGeometry clipped = geometry(8, 6, 1, 11, 3, 1, 1, 1);  // whose last rows and columns no output reads
  clipped.out[1] -= 4, clipped.out[2] -= 5;
  all.push_back(clipped);
  return all;
}

TEST_P(WinogradInt16, IsExact) {
  for (const ConvGeometry& g : geometries()) {
    for (int outputs : {2, 4}) {
      for (int form = 0; form < 16; ++form) {
        SCOPED_TRACE(testing::Message() << g.in_channels << " to " << g.out_channels << ", form " << form
                                        << ", tiles of " << outputs);
        const ConvForm f = conv_form(g, form);
        const PackedConvWeightsInt8 packed = pack_conv_weights_int8(g, f.w.data(), f.w_signed, outputs);
        ASSERT_EQ(outputs_of(packed), outputs);
        ASSERT_STREQ(packed.method(), "winograd");
        expect_exact(f, packed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Bytes of which outputs are as large as they can be: as many tiles' outputs as their bits allow, and one channel more.
TEST_P(WinogradInt16, IsExactUpToTheLastBit) {
  struct Depth {
    int64_t channels;
    int outputs;
  };
  for (const Depth& depth : {Depth{114, 4}, Depth{115, 2}, Depth{1827, 2}, Depth{1828, 0}}) {
    ConvGeometry g = geometry(depth.channels, 4, 1, 4, 3, 1, 1, 1);
    g.batch = 1;
    for (int form : {0, 2, 9}) {
      SCOPED_TRACE(testing::Message() << depth.channels << " channels, form " << form);
      ConvForm f = conv_form(g, form);
      std::fill(f.x.begin(), f.x.end(), f.x_signed ? 128 : 255);
      for (size_t i = 0; i < f.w.size(); ++i) {
        const size_t channel = i / (f.w.size() / 4);
        const int least = f.w_signed ? -128 : 0;  // the largest in magnitude, beside 127 and any
        if (channel < 3)
          f.w[i] = static_cast<uint8_t>(channel == 0 ? least : channel == 1 ? least + 255 : least + i % 2 * 255);
      }
      const PackedConvWeightsInt8 packed = pack_conv_weights_int8(g, f.w.data(), f.w_signed, 4);
      ASSERT_EQ(outputs_of(packed), depth.outputs);
      expect_exact(f, packed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(WinogradInt16, IsTheSameForEveryNumberOfThreads) {
  for (const ConvGeometry& g : {geometry(64, 70, 1, 30, 3, 1, 1, 1), geometry(128, 300, 1, 6, 3, 1, 1, 1),
                                geometry(40, 60, 1, 18, 3, 1, 1, 1)}) {
    for (int outputs : {2, 4}) {
      for (int form : {0, 15}) {
        SCOPED_TRACE(testing::Message() << "form " << form << ", tiles of " << outputs);
        const ConvForm f = conv_form(g, form);
        expect_same_for_every_number_of_threads(f, pack_conv_weights_int8(g, f.w.data(), f.w_signed, outputs));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(WinogradInt16Choice, DependsOnTheShapeAndTheInstructions) {
  GemmInt8Kernels pairs{};
  pairs.lanes = 8, pairs.group = 2;
  GemmInt8Kernels fours = pairs, narrow = pairs;
  fours.group = 4, narrow.lanes = 4;
  const auto chosen = [&](const ConvGeometry& g, int64_t positions) {
    return winograd_int16_outputs(g, pairs, positions);
  };
  const ConvGeometry layer = geometry(64, 64, 1, 56, 3, 1, 1, 1);
  EXPECT_EQ(chosen(layer, 0), 4);
  EXPECT_EQ(chosen(layer, 56 * 56), 4);
  EXPECT_EQ(chosen(layer, 9), 0) << "few outputs";
  EXPECT_EQ(chosen(geometry(512, 512, 1, 7, 3, 1, 1, 1), 49), 2);
  EXPECT_EQ(chosen(geometry(1024, 512, 1, 7, 3, 1, 1, 1), 49), 0) << "weights that take long to read";
  EXPECT_EQ(chosen(geometry(3, 64, 1, 56, 3, 1, 1, 1), 0), 0) << "few channels";
  EXPECT_EQ(chosen(geometry(64, 64, 1, 56, 3, 2, 1, 1), 0), 0) << "steps";
  EXPECT_EQ(chosen(geometry(64, 64, 1, 56, 3, 1, 2, 1), 0), 0) << "dilation";
  EXPECT_EQ(chosen(geometry(64, 64, 2, 56, 3, 1, 1, 1), 0), 0) << "groups";
  EXPECT_EQ(chosen(geometry(64, 64, 1, 56, 5, 1, 1, 2), 0), 0) << "5x5";
  EXPECT_EQ(winograd_int16_outputs(layer, fours, 0), 0);
  EXPECT_EQ(winograd_int16_outputs(layer, narrow, 0), 0);
}

ORTOLAN_FOR_EACH_ISA(WinogradInt16);

}  // namespace
}  // namespace ortolan::cpu::kernels
