// What programs show: plain tables, and a line of progress while a terminal watches.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace ortolan::tools {

class Table {
 public:
  // A title that begins with '>' makes a right-aligned column.
  explicit Table(std::vector<std::string> titles);
  void add(std::vector<std::string> row);
  std::string text() const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a text takes on a terminal (UTF-8, one column a character).
size_t display_width(const std::string& text);
// Fixed digits after the point.
std::string fixed(double value, int digits);
// A size such as "12.3 MB".
std::string megabytes(double bytes);

// One line on stderr that is rewritten; nothing when stderr is no terminal. May be called from several threads.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step(const std::string& what);
  void show(const std::string& text);
  void clear();

 private:
  size_t total_, done_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
  std::mutex mutex_;
};

}  // namespace ortolan::tools
