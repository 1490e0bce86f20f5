// Tests of reading pictures and .npy files.
#include "common/array_file.h"

#include <gtest/gtest.h>

#include "../thrown_text.h"
#include "common/error.h"
#include "common/files.h"

namespace ortolan::tools {
namespace {

class ArrayFile : public testing::Test {
 protected:
  std::string write(const std::string& content) {
    std::string path = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
    write_file(path, content);
    return path;
  }
};

TEST_F(ArrayFile, PlainGrayPicture) {
  Picture picture = read_picture(write("P2\n# a comment\n2 1\n4\n4 1\n"));
  EXPECT_EQ(picture.width, 2);
  EXPECT_EQ(picture.height, 1);
  EXPECT_EQ(picture.pixels, (std::vector<float>{1, 0.25f}));
}

TEST_F(ArrayFile, BinaryColourPicture) {
  Picture picture = read_picture(write(std::string("P6 1 1 255\n\xff\x00\x33", 14)));
  EXPECT_EQ(picture.channels, 3);
  EXPECT_EQ(picture.pixels, (std::vector<float>{1, 0, 0.2f}));
  EXPECT_NEAR(planes(picture, 1, 1, 1)[0], 0.299 + 0.114 * 0.2, 1e-6);
}

TEST_F(ArrayFile, ScalesByMeanAndByNearest) {
  Picture picture = read_picture(write("P2 2 2 1 1 0 0 0"));
  EXPECT_EQ(planes(picture, 1, 1, 1), (std::vector<float>{0.25f}));
  EXPECT_EQ(planes(picture, 1, 2, 4), (std::vector<float>{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(planes(picture, 3, 1, 1).size(), 3u);
}

TEST_F(ArrayFile, BadPicturesAreErrors) {
  const std::pair<const char*, const char*> bad[] = {{"", "no PGM or PPM picture"},
                                                     {"P9 1 1 1 1", "no PGM or PPM picture"},
                                                     {"P2 2 2 1 1", "a number is missing at byte 10"},
                                                     {"P2 0 1 1", "a picture of 0x1"},
                                                     {"P2 99999 99999 1", "a picture of 99999x99999"},
                                                     {"P5 4 4 255\nabc", "too short for 4x4 pixels"},
                                                     {"P2 x", "a number is missing at byte 3"}};
  for (const auto& [content, part] : bad) {
    EXPECT_TRUE(test::throws<ToolError>(part, [&] { read_picture(write(content)); })) << content;
  }
}

TEST_F(ArrayFile, Npy) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(118, ' ');
  std::string content =
      std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string("\5\0\0\0\xff\xff\xff\xff", 8);
  Value value = read_npy(write(content));
  EXPECT_EQ(value.shape, std::vector<int64_t>{2});
  EXPECT_EQ(integer_at(value.type, value.bytes.data(), 1), -1);
  const auto cut = [&](size_t size) { return write(content.substr(0, size)); };
  EXPECT_TRUE(test::throws<ToolError>("ends inside the data", [&] { read_npy(cut(content.size() - 1)); }));
  EXPECT_TRUE(test::throws<ToolError>("header is cut off", [&] { read_npy(cut(40)); }));
}

}  // namespace
}  // namespace ortolan::tools
