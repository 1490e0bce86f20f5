// Attributes of operators, made and read.
#include "api_test_support.h"

namespace {

TEST(OpAttributes, AreMadeAndRead) {
  using OpAttr = Handle<OrtOpAttr, &OrtApi::ReleaseOpAttr>;
  OpAttr attribute;
  const int64_t ints[] = {1, 2, 3};
  int64_t read[3] = {};
  size_t size = 0;
  ASSERT_OK(api().CreateOpAttr("ints", ints, 3, ORT_OP_ATTR_INTS, attribute.out()));
  EXPECT_REFUSED(api().ReadOpAttr(attribute, ORT_OP_ATTR_INTS, read, 8, &size), ORT_INVALID_ARGUMENT, "needs 24");
  EXPECT_EQ(size, 24u);
  EXPECT_OK(api().ReadOpAttr(attribute, ORT_OP_ATTR_INTS, read, 24, &size));
  EXPECT_EQ(read[2], 3);
  EXPECT_REFUSED(api().ReadOpAttr(attribute, ORT_OP_ATTR_FLOAT, read, 24, &size), ORT_INVALID_ARGUMENT,
                 "type 2, not 3");
  const char* strings[] = {"a", "bc"};
  char text[8];
  ASSERT_OK(api().CreateOpAttr("strings", strings, 2, ORT_OP_ATTR_STRINGS, attribute.out()));
  EXPECT_OK(api().ReadOpAttr(attribute, ORT_OP_ATTR_STRINGS, text, sizeof text, &size));
  EXPECT_EQ(std::string(text, size), std::string("a\0bc\0", 5));
  ASSERT_OK(api().CreateOpAttr("string", "xyz", 3, ORT_OP_ATTR_STRING, attribute.out()));
  EXPECT_OK(api().ReadOpAttr(attribute, ORT_OP_ATTR_STRING, text, sizeof text, &size));
  EXPECT_EQ(std::string(text, size), "xyz");
  OrtOpAttrType type;
  const char* name = nullptr;
  EXPECT_OK(api().OpAttr_GetType(attribute, &type));
  EXPECT_EQ(type, ORT_OP_ATTR_STRING);
  EXPECT_OK(api().OpAttr_GetName(attribute, &name));
  EXPECT_STREQ(name, "string");
  std::vector<float> data = {4};
  Value tensor = floats(data, {1}), copy;
  ASSERT_OK(api().CreateOpAttr("tensor", static_cast<OrtValue*>(tensor), 1, ORT_OP_ATTR_TENSOR, attribute.out()));
  EXPECT_OK(api().OpAttr_GetTensorAttributeAsOrtValue(attribute, copy.out()));
  EXPECT_EQ(content<float>(copy), data);
  OrtOpAttr* none = nullptr;
  EXPECT_REFUSED(api().CreateOpAttr("g", ints, 1, ORT_OP_ATTR_GRAPH, &none), ORT_INVALID_ARGUMENT, "type 7");
  EXPECT_REFUSED(api().CreateOpAttr("i", ints, -1, ORT_OP_ATTR_INTS, &none), ORT_INVALID_ARGUMENT, "-1 items");
}

}  // namespace
