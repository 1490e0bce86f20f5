// ImageDecoder on small pictures of every format, cut off, damaged, and written here by hand.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "op_test.h"

namespace ortolan::test {
namespace {

using File = std::vector<uint8_t>;

File picture(const std::string& name) {
  std::ifstream in(std::string(ORTOLAN_PICTURES "/") + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return File(std::istreambuf_iterator<char>(in), {});
}

File text(std::string_view text) { return File(text.begin(), text.end()); }

OpTest node(const File& file, const char* format = "RGB") {
  OpTest test("ImageDecoder", 20);
  test.input<uint8_t>({static_cast<int64_t>(file.size())}, file).set("pixel_format", format);
  return test;
}

/** Channel c of pixel (y, x) of the pictures rgb.*. */
uint8_t sample(int64_t y, int64_t x, int64_t c) { return static_cast<uint8_t>(37 * x + 61 * y + 90 * c); }

std::vector<uint8_t> rgb_pixels(bool blue_first = false) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < 5 * 7 * 3; ++i) pixels.push_back(sample(i / 21, i / 3 % 7, blue_first ? 2 - i % 3 : i % 3));
  return pixels;
}

void expect_exact(const std::string& name) {
  File file = picture(name);
  EXPECT_TRUE(equal<uint8_t>(node(file).run_tensor(), {5, 7, 3}, rgb_pixels())) << name;
  EXPECT_TRUE(equal<uint8_t>(node(file, "BGR").run_tensor(), {5, 7, 3}, rgb_pixels(true))) << name;
  std::vector<uint8_t> grey;
  for (int64_t i = 0; i < 35; ++i) {
    double luma = 0.299 * sample(i / 7, i % 7, 0) + 0.587 * sample(i / 7, i % 7, 1) + 0.114 * sample(i / 7, i % 7, 2);
    grey.push_back(static_cast<uint8_t>(luma + 0.5));
  }
  EXPECT_TRUE(equal<uint8_t>(node(file, "Grayscale").run_tensor(), {5, 7, 1}, grey)) << name;
}

void expect_grey(const std::string& name, const File& file) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < 5 * 7 * 3; ++i) pixels.push_back(sample(i / 21, i / 3 % 7, 0));
  EXPECT_TRUE(equal<uint8_t>(node(file).run_tensor(), {5, 7, 3}, pixels)) << name;
}

TEST(ImageDecoder, Bmp) {
  expect_exact("rgb.bmp");
  expect_exact("palette.bmp");
}

/** A BMP of these bits and form with the rest of the file after its 40-byte header. */
File bmp(int32_t width, int32_t height, uint16_t bits, uint32_t form, const File& rest, uint32_t pixels_at) {
  File file(54);
  auto put = [&](size_t at, uint32_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
  file[0] = 'B', file[1] = 'M';
  put(10, pixels_at, 4), put(14, 40, 4), put(18, static_cast<uint32_t>(width), 4);
  put(22, static_cast<uint32_t>(height), 4), put(26, 1, 2), put(28, bits, 2), put(30, form, 4);
  std::ranges::copy(rest, std::back_inserter(file));
  return file;
}

TEST(ImageDecoder, BmpForms) {
  File fields = bmp(2, -1, 16, 3, {0, 0xf8, 0, 0, 0xe0, 7, 0, 0, 0x1f, 0, 0, 0, 0xff, 0xff, 0, 0xf8}, 66);
  EXPECT_TRUE(equal<uint8_t>(node(fields).run_tensor(), {1, 2, 3}, {255, 255, 255, 255, 0, 0}));
  File plain = bmp(1, 1, 16, 0, {0x1f, 0x7c, 0, 0}, 54);
  EXPECT_TRUE(equal<uint8_t>(node(plain).run_tensor(), {1, 1, 3}, {255, 0, 255}));
  File colours(4 * 16);
  colours[4 * 1] = 10, colours[4 * 2 + 1] = 20, colours[4 * 3 + 2] = 30;  // blue, green, red
  File runs = colours;
  runs.insert(runs.end(), {3, 0x12, 0, 0, 0, 3, 0x33, 0x10, 0, 1});
  EXPECT_TRUE(equal<uint8_t>(node(bmp(3, 2, 4, 2, runs, 54 + 64)).run_tensor(), {2, 3, 3},
                             {30, 0, 0, 30, 0, 0, 0, 0, 10, 0, 0, 10, 0, 20, 0, 0, 0, 10}));
  File endless = colours;
  endless.insert(endless.end(), {255, 1, 255, 1, 0, 2, 255, 255, 255, 1});
  EXPECT_NE(node(bmp(3, 2, 4, 2, endless, 54 + 64)).error().find("cut off"), std::string::npos);
}

TEST(ImageDecoder, Pnm) {
  File header = text("P6 # a comment\n7 5\n255\n"), pixels = rgb_pixels(), file = header;
  file.insert(file.end(), pixels.begin(), pixels.end());
  EXPECT_TRUE(equal<uint8_t>(node(file).run_tensor(), {5, 7, 3}, pixels));
  EXPECT_TRUE(
      equal<uint8_t>(node(text("P3\n1 2 10\n0 5 10\n10 1 0")).run_tensor(), {2, 1, 3}, {0, 128, 255, 255, 26, 0}));
  EXPECT_TRUE(equal<uint8_t>(node(text("P1\n3 1\n0 1\n0   "), "Grayscale").run_tensor(), {1, 3, 1}, {255, 0, 255}));
  EXPECT_TRUE(equal<uint8_t>(node(text("P1\n4 1\n0110"), "Grayscale").run_tensor(), {1, 4, 1}, {255, 0, 0, 255}));
  EXPECT_TRUE(equal<uint8_t>(node(text("P2\n2 1\n3 1 3 "), "Grayscale").run_tensor(), {1, 2, 1}, {85, 255}));
  EXPECT_TRUE(equal<uint8_t>(node(text("P4\n9 1   \n\xa0\x80"), "Grayscale").run_tensor().shape() == Shape{1, 9, 1}
                                 ? tensor_of<uint8_t>({1}, {1})
                                 : tensor_of<uint8_t>({1}, {0}),
                             {1}, {1}));
  File deep = text("P5\n2 1\n65535\n");
  deep.insert(deep.end(), {0x80, 0x80, 0xff, 0xff});
  EXPECT_TRUE(equal<uint8_t>(node(deep, "Grayscale").run_tensor(), {1, 2, 1}, {128, 255}));
  File pam = text("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n");
  pam.insert(pam.end(), {1, 2, 3, 4});
  EXPECT_TRUE(equal<uint8_t>(node(pam).run_tensor(), {1, 1, 3}, {1, 2, 3}));
}

TEST(ImageDecoder, RefusesWhatIsNoPicture) {
  EXPECT_NE(node({}).error().find("a file of 0 bytes"), std::string::npos);
  EXPECT_NE(node(text("P6\n100000 100000\n255\n")).error().find("the limit is"), std::string::npos);
  EXPECT_NE(node(text("P6\n1000 1000\n255\n")).error().find("it is cut off"), std::string::npos);
  EXPECT_NE(node(text("P6\n-3 1000\n255\n")).error().find("'-3' where a number"), std::string::npos);
  EXPECT_NE(node(text("P5\n3 1\n0\n1234")).error().find("up to 0"), std::string::npos);
  EXPECT_NE(node(bmp(INT32_MIN, 1, 24, 0, {}, 54)).error().find("must be positive"), std::string::npos);
  EXPECT_NE(node(bmp(1, INT32_MIN, 24, 0, {}, 54)).error().find("the limit is"), std::string::npos);
  EXPECT_NE(node(bmp(1, 1, 24, 0, {0, 0, 0, 0}, 0xffffffff)).error().find("cut off"), std::string::npos);
  EXPECT_NE(node(bmp(1, 1, 7, 0, {0, 0, 0, 0}, 54)).error().find("7 bits a pixel"), std::string::npos);
  OpTest test("ImageDecoder", 20);
  EXPECT_NE(test.input<uint8_t>({0}, {}).set("pixel_format", "CMYK").error().find("pixel_format is 'CMYK'"),
            std::string::npos);
}

#ifdef ORTOLAN_HAS_IMAGES
TEST(ImageDecoder, LosslessFormats) {
  for (const char* name : {"rgb.png", "rgba.png", "palette.png", "rgb.tiff", "rgb.webp", "rgb.jp2"}) {
    expect_exact(name);
  }
  for (const char* name : {"grey16.png", "grey.tiff", "grey.jp2"}) expect_grey(name, picture(name));
}

TEST(ImageDecoder, Jpeg) {
  for (const char* name : {"smooth.jpg", "smooth_progressive.jpg", "smooth_cmyk.jpg"}) {
    Tensor y = node(picture(name)).run_tensor();
    ASSERT_EQ(y.shape(), (Shape{8, 8, 3}));
    for (int i = 0; i < 64; ++i) {
      const int wanted[] = {40 + 10 * (i % 8), 60 + 8 * (i / 8), 90 + 4 * (i % 8) + 3 * (i / 8)};
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(y.data<uint8_t>()[3 * i + c], wanted[c], 3) << name << " at " << i;
    }
  }
}

TEST(ImageDecoder, ModuleSaysWhy) {
  EXPECT_NE(node(text("no picture at all")).error().find("no known format begins"), std::string::npos);
  File file = picture("smooth.jpg");
  file.resize(file.size() - 20);
  EXPECT_NE(node(file).error().find("cannot be decoded: the JPEG data are cut off"), std::string::npos)
      << node(file).error();
  file = picture("rgb.png");
  file[16] = 0x7f;  // the width's first byte; the checksum no longer fits
  EXPECT_NE(node(file).error().find("cannot be decoded: IHDR: CRC error"), std::string::npos) << node(file).error();
}
#endif

/** Runs a file that is damaged: any result but a crash will do. */
void try_file(const File& file) {
  try {
    node(file).once().run(1);
  } catch (const base::Error&) {
  }
}

TEST(ImageDecoder, DamagedFilesDoNotCrash) {
  std::mt19937 random(test_seed());
  for (const char* name : {"rgb.bmp", "palette.bmp", "rgb.png", "palette.png", "rgb.tiff", "grey.tiff", "rgb.webp",
                           "rgb.jp2", "smooth.jpg", "smooth_progressive.jpg", "smooth_cmyk.jpg"}) {
    File whole = picture(name);
    for (size_t size = 0; size < whole.size(); size += 1 + size / 16) {
      try_file(File(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    for (int i = 0; i < 60; ++i) {
      File damaged = whole;
      for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
        damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      }
      try_file(damaged);
    }
  }
}

}  // namespace
}  // namespace ortolan::test
