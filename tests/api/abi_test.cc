// The structs and enums of the public headers, as compiled, against the tables in symbols/, as read here.
#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "abi_rows.h"
#include "onnxruntime_c_api.h"

namespace {

using Table = std::vector<std::vector<std::string>>;

/** The rows of a table, split at tabs, without the heading. */
Table read_table(const std::string& name) {
  std::ifstream file(std::string(ORTOLAN_SOURCE_DIR) + "/symbols/" + name);
  EXPECT_TRUE(file) << name;
  Table table;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) {
      cells.push_back(cell);
    }
    table.push_back(cells);
  }
  return table;
}

class AbiTest : public testing::TestWithParam<AbiRows (*)()> {
 protected:
  AbiRows compiled_ = GetParam()();
};

TEST_P(AbiTest, EveryMemberHasTheOffsetAndSizeOfTheTable) {
  const Table table = read_table("ort_api.tsv");
  ASSERT_EQ(table.size(), compiled_.member_count);
  ASSERT_GT(table.size(), 700u);
  for (size_t i = 0; i < table.size(); ++i) {
    const AbiRow& row = compiled_.members[i];
    const auto& expected = table[i];
    SCOPED_TRACE(expected[0] + "::" + expected[3]);
    EXPECT_EQ(row.type, expected[0]);
    EXPECT_EQ(row.name, expected[3]);
    EXPECT_EQ(row.offset_or_value, std::stoll(expected[2]));
    EXPECT_EQ(row.size, std::stoull(expected[9]));
  }
}

TEST_P(AbiTest, EveryStructHasTheSizeAndAlignmentOfTheTable) {
  const Table table = read_table("struct_sizes.tsv");
  ASSERT_EQ(table.size(), compiled_.struct_count);
  for (size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table[i][0]);
    EXPECT_EQ(compiled_.structs[i].type, table[i][0]);
    EXPECT_EQ(compiled_.structs[i].size, std::stoull(table[i][2]));
    EXPECT_EQ(compiled_.structs[i].offset_or_value, std::stoll(table[i][3]));
  }
}

TEST_P(AbiTest, EveryEnumConstantHasTheValueOfTheTable) {
  const Table table = read_table("enums.tsv");
  ASSERT_EQ(table.size(), compiled_.enum_count);
  for (size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table[i][1]);
    EXPECT_EQ(compiled_.enums[i].name, table[i][1]);
    EXPECT_EQ(compiled_.enums[i].offset_or_value, std::stoll(table[i][2]));
    EXPECT_EQ(compiled_.enums[i].size, sizeof(int));
  }
}

INSTANTIATE_TEST_SUITE_P(Languages, AbiTest, testing::Values(&abi_rows_c, &abi_rows_cc),
                         [](const auto& test) { return test.index == 0 ? "C" : "Cxx"; });

TEST(AbiTable, SlotsOfTheTableAreInOrderAndTheFirstReleaseThatHasThemNeverFalls) {
  double last = 0;
  int slot = 0;
  for (const auto& row : read_table("ort_api.tsv")) {
    if (row[0] != "OrtApi") {
      continue;
    }
    EXPECT_EQ(std::stoi(row[1]), slot) << row[3];
    EXPECT_EQ(std::stoi(row[2]), 8 * slot) << row[3];
    const double since = std::stod(row[7].substr(2));
    EXPECT_GE(since, last) << row[3];
    last = since;
    ++slot;
  }
  EXPECT_EQ(slot, 428);
}

}  // namespace
