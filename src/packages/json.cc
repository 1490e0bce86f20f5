// Builds the tree from the events of nlohmann's parser.
#include "packages/json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace ortolan::packages {
namespace {

using base::ErrorCode;
using base::fail;
using base::require;
using Kind = Json::Kind;

constexpr size_t kMaxDepth = 200;

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  bool null() override { return add(Kind::kNull); }
  bool boolean(bool) override { return add(Kind::kBoolean); }
  bool number_integer(int64_t value) override { return add(Kind::kNumber), last_->integer = value, true; }
  bool number_unsigned(uint64_t value) override {
    add(Kind::kNumber);
    if (value <= uint64_t{std::numeric_limits<int64_t>::max()}) last_->integer = static_cast<int64_t>(value);
    return true;
  }
  bool number_float(double, const std::string&) override { return add(Kind::kNumber); }
  bool string(std::string& value) override { return add(Kind::kText), last_->text = std::move(value), true; }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // JSON has none

  bool start_object(size_t) override { return open(Kind::kObject); }
  bool key(std::string& name) override { return open_.back()->names.push_back(std::move(name)), true; }
  bool end_object() override {
    std::vector<std::string_view> names(open_.back()->names.begin(), open_.back()->names.end());
    std::ranges::sort(names);
    auto twice = std::ranges::adjacent_find(names);
    require(twice == names.end(), ErrorCode::kFail, "an object has the name '", twice == names.end() ? "" : *twice,
            "' twice; each name may stand once");
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override { return open(Kind::kArray); }
  bool end_array() override { return open_.pop_back(), true; }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
    size_t line_start = before.rfind('\n') + 1;  // 0 where there is none
    fail(ErrorCode::kFail, "not JSON at line ", std::ranges::count(before, '\n') + 1, ", column ",
         before.size() - line_start + 1);
  }

  Json take() { return std::move(root_); }

 private:
  bool add(Kind kind) {
    last_ = open_.empty() ? &root_ : &open_.back()->items.emplace_back();
    last_->kind = kind;
    return true;
  }
  bool open(Kind kind) {
    require(open_.size() < kMaxDepth, ErrorCode::kFail, "arrays and objects nest deeper than ", kMaxDepth);
    add(kind);
    open_.push_back(last_);
    return true;
  }

  std::string_view text_;
  Json root_;
  Json* last_ = nullptr;
  std::vector<Json*> open_;  // those under way; each is the last item of the one before, so none moves
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &items[static_cast<size_t>(found - names.begin())];
}

Json parse_json(std::string_view text) {
  TreeBuilder builder(text);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace ortolan::packages
