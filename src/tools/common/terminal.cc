// Tables and progress.
#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace ortolan::tools {

Table::Table(std::vector<std::string> titles) {
  for (std::string& title : titles) {
    right_.push_back(title.starts_with(">"));
    titles_.push_back(right_.back() ? title.substr(1) : title);
  }
}

void Table::add(std::vector<std::string> row) {
  row.resize(titles_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < titles_.size(); ++c) {
    size_t width = display_width(titles_[c]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string out;
  auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      std::string padding(widths[c] - display_width(cells[c]), ' ');
      line += (c ? "  " : "") + (right_[c] ? padding + cells[c] : cells[c] + padding);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  add_line(titles_);
  for (const auto& row : rows_) add_line(row);
  return out;
}

size_t display_width(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string megabytes(double bytes) { return fixed(bytes / 1e6, 1) + " MB"; }

void Progress::step(const std::string& what) {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    ++done_;
    text = std::to_string(done_) + "/" + std::to_string(total_) + " " + what;
  }
  show(text);
}

void Progress::show(const std::string& text) {
  static const bool terminal = isatty(STDERR_FILENO);
  if (!terminal) return;
  std::lock_guard lock(mutex_);
  auto now = std::chrono::steady_clock::now();
  if (shown_ && now - last_ < std::chrono::milliseconds(50)) return;
  last_ = now;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, 100).c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  std::lock_guard lock(mutex_);
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace ortolan::tools
