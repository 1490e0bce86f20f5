// Drawing with block characters.
#include "view.h"

#include <algorithm>
#include <cmath>

#include "common/terminal.h"

namespace ortolan::tools {
namespace {

constexpr int kWidestRow = 40;  // pixels of a drawn row; each is two columns
constexpr int kBarColumns = 30;

// A bar of eighths of a column.
std::string bar(double share) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  int eighths = int(std::lround(std::clamp(share, 0.0, 1.0) * kBarColumns * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string element_text(const Value& value, size_t index) {
  if (value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return "'" + value.strings[index] + "'";
  if (!traits(value.type).floating) return std::to_string(integer_at(value.type, value.bytes.data(), index));
  return number_text(number_at(value.type, value.bytes.data(), index));
}

std::string range_text(const Value& value) {
  if (value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING || value.elements() < 2) return {};
  double low = INFINITY, high = -INFINITY;
  size_t odd = 0, count = value.elements();
  for (size_t i = 0; i < count; ++i) {
    double number = number_at(value.type, value.bytes.data(), i);
    if (!std::isfinite(number)) {
      ++odd;
      continue;
    }
    low = std::min(low, number);
    high = std::max(high, number);
  }
  std::string text = "  from " + number_text(low) + " to " + number_text(high);
  return odd ? text + join(", ", odd, " of ", count, " not finite") : text;
}

}  // namespace

std::vector<std::string> picture_lines(const Picture& picture) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  int width = std::min(picture.width, kWidestRow);
  int height = std::max(1, int(std::lround(double(picture.height) * width / picture.width)));
  std::vector<float> gray = planes(picture, 1, height, width);
  std::string edge;
  for (int x = 0; x < width; ++x) edge += "──";
  std::vector<std::string> lines = {"┌" + edge + "┐"};
  for (int y = 0; y < height; ++y) {
    std::string line = "│";
    for (int x = 0; x < width; ++x) {
      const char* shade = kShades[std::clamp(int(gray[size_t(y) * width + x] * 5), 0, 4)];
      line += std::string(shade) + shade;
    }
    lines.push_back(line + "│");
  }
  lines.push_back("└" + edge + "┘");
  return lines;
}

std::vector<std::string> score_lines(const std::vector<Score>& scores) {
  double sum = 0, largest = 0;
  size_t widest = 0;
  for (const Score& score : scores) {
    sum += score.value;
    largest = std::max(largest, std::abs(score.value));
    widest = std::max(widest, display_width(score.label));
  }
  bool shares = std::abs(sum - 1) < 0.02;
  std::vector<std::string> lines;
  for (const Score& score : scores) {
    std::string padding(widest - display_width(score.label), ' ');
    std::string number = shares ? fixed(score.value * 100, 1) + " %" : number_text(score.value);
    if (number.size() < 10) number.insert(0, (shares ? 8 : 10) - std::min<size_t>(number.size(), 8), ' ');
    double length = shares ? score.value : largest > 0 ? score.value / largest : 0;
    std::string drawn = bar(length);
    lines.push_back(score.label + padding + number + (drawn.empty() ? "" : "  " + drawn));
  }
  return lines;
}

std::string side_by_side(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  size_t width = 0;
  for (const std::string& line : left) width = std::max(width, display_width(line));
  std::string text;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string first = i < left.size() ? left[i] : "";
    std::string second = i < right.size() ? right[i] : "";
    if (!second.empty()) first += std::string(width - display_width(first) + 3, ' ');
    text += first + second + "\n";
  }
  return text;
}

std::string describe(const std::string& name, const Value& value, size_t shown) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return name + ": no content\n";
    case Value::Kind::kSequence:
    case Value::Kind::kMap: {
      bool map = value.kind == Value::Kind::kMap;
      std::string text = map ? name + ": map\n" : join(name, ": sequence of ", value.items.size(), "\n");
      for (size_t i = 0; i < std::min(value.items.size(), shown); ++i) {
        std::string item = map ? (i ? ".values" : ".keys") : join("[", i, "]");
        text += describe(name + item, value.items[i], shown);
      }
      return text;
    }
    case Value::Kind::kTensor:
      break;
  }
  std::string text = name + ": " + to_text(value.type, value.shape) + range_text(value) + "\n";
  size_t count = std::min(value.elements(), shown);
  for (size_t i = 0; i < count; ++i) text += (i ? " " : "  ") + element_text(value, i);
  if (count) text += count < value.elements() ? " ...\n" : "\n";
  return text;
}

}  // namespace ortolan::tools
