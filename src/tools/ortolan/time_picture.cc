// The picture of where time goes: one run as a strip, operators, and nodes in their order; in SVG, with tooltips.
#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "common/terminal.h"
#include "markup.h"
#include "operator_families.h"
#include "time_report.h"

namespace ortolan::tools {
namespace {

constexpr int kWidth = 1200, kMargin = 24, kInner = kWidth - 2 * kMargin;
constexpr int kRow = 20, kBar = 14;                     // heights
constexpr int kLabel = 270, kBarsFrom = kMargin + 280;  // names, then bars
constexpr int kLongestBar = 360;

constexpr const char* kStyle =
    "<style>.page{fill:#ffffff}.t{font:12px system-ui,sans-serif;fill:#222}.s{font:11px system-ui,sans-serif;fill:#666}"
    ".h{font:bold 15px system-ui,sans-serif;fill:#222}.edge{stroke:#ffffff;stroke-width:.6}"
    "@media(prefers-color-scheme:dark){.page{fill:#1b1c1f}.t,.h{fill:#eee}.s{fill:#a8abb2}.edge{stroke:#1b1c1f}}"
    "</style>\n";

std::string figure(double value) { return fixed(value, value < 1 ? 2 : value < 100 ? 1 : 0); }

// "12.3 µs · 4.5 % · 180 GFLOP/s · 12.3 GB/s"
std::string figures(const RunTime& time, double share) {
  std::string text = join(figure(time.us), " µs · ", fixed(share * 100, 1), " %");
  if (auto rate = time.gigaflops()) text += join(" · ", figure(*rate), " GFLOP/s");
  if (auto rate = time.gigabytes()) text += join(" · ", figure(*rate), " GB/s");
  return text;
}

std::string tooltip(const NodeTime& node, double share) {
  std::string text = escaped(join(node.node, " (", node.type, ") on ", node.provider));
  auto add = [&text](const std::string& line) {
    if (!line.empty()) text += "&#10;" + escaped(line);
  };
  add(figures(node.time, share));
  if (node.time.calls != 1) add(join(fixed(node.time.calls, 1), " calls a run"));
  if (!node.kernel.empty()) add(join("kernel ", node.kernel, node.isa.empty() ? "" : " (" + node.isa + ")"));
  if (node.time.flops) add(join(fixed(*node.time.flops / 1e6, 3), " MFLOP a run"));
  if (node.time.bytes) add(join(fixed(*node.time.bytes / 1e6, 3), " MB a run"));
  if (!node.inputs.empty()) add(join("from ", node.inputs));
  if (!node.outputs.empty()) add(join("to ", node.outputs));
  return "<title>" + text + "</title>";
}

std::string text_at(double x, double y, const char* style, const std::string& text) {
  return join("<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\" class=\"", style, "\">", escaped(text),
              "</text>\n");
}

std::string bar(double x, double y, double width, double height, const std::string& type) {
  return join("<rect x=\"", fixed(x, 2), "\" y=\"", fixed(y, 1), "\" width=\"", fixed(std::max(width, 0.5), 2),
              "\" height=\"", fixed(height, 0), "\" rx=\"2\" fill=\"", operator_families()[family_of(type)].colour,
              "\"/>");
}

// Draws from the top down; y() is where the next thing goes.
class TimePicture {
 public:
  explicit TimePicture(const TimeReport& report) : report_(report), all_(report.total().us) {}

  std::string svg() {
    heading();
    strip();
    legend();
    operators();
    nodes();
    device();
    int height = int(y_) + kMargin;
    return join("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth, "\" height=\"", height,
                "\" viewBox=\"0 0 ", kWidth, " ", height, "\">\n", kStyle, "<rect class=\"page\" width=\"", kWidth,
                "\" height=\"", height, "\"/>\n", body_, "</svg>\n");
  }

 private:
  double share(const RunTime& time) const { return all_ > 0 ? time.us / all_ : 0; }

  bool has_device() const { return !report_.device.kernels.empty(); }
  std::string host_title(const std::string& text) const { return has_device() ? "On the host: " + text : text; }

  void heading() {
    body_ += text_at(kMargin, y_ += 20, "h", join(report_.model, " on ", report_.library));
    body_ += text_at(kMargin, y_ += 20, "t", join("Medians of ", report_.runs, " runs: ", summary(report_)));
    if (has_device()) body_ += text_at(kMargin, y_ += 18, "t", device_summary(report_));
    for (const std::string& note : notes(report_)) body_ += text_at(kMargin, y_ += 18, "s", note);
    y_ += 14;
  }

  void title(const std::string& text) {
    y_ += 22;
    body_ += text_at(kMargin, y_, "h", text);
    y_ += 10;
  }

  // All nodes side by side, each as wide as its time.
  void strip() {
    double x = kMargin;
    for (const NodeTime& node : report_.nodes) {
      double width = share(node.time) * kInner;
      body_ += join("<g>", tooltip(node, share(node.time)), "<rect x=\"", fixed(x, 2), "\" y=\"", fixed(y_, 1),
                    "\" width=\"", fixed(width, 2), "\" height=\"30\"", width > 4 ? " class=\"edge\"" : "", " fill=\"",
                    operator_families()[family_of(node.type)].colour, "\"/></g>\n");
      x += width;
    }
    y_ += 30;
  }

  void legend() {
    std::vector<double> times(operator_families().size());
    for (const NodeTime& node : report_.nodes) times[family_of(node.type)] += node.time.us;
    double x = kMargin;
    y_ += 22;
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      std::string text = join(operator_families()[i].name, " ", fixed(all_ > 0 ? times[i] / all_ * 100 : 0, 1), " %");
      double width = 30 + 6.5 * double(display_width(text));
      if (x + width > kWidth - kMargin) x = kMargin, y_ += kRow;
      body_ += join("<rect x=\"", fixed(x, 1), "\" y=\"", fixed(y_ - 10, 1),
                    "\" width=\"12\" height=\"12\" rx=\"2\" fill=\"", operator_families()[i].colour, "\"/>");
      body_ += text_at(x + 17, y_, "t", text);
      x += width;
    }
    y_ += 8;
  }

  // A name, a bar and its figures.
  void row(const std::string& name, const std::string& type, double part, const std::string& text,
           const std::string& title) {
    body_ +=
        join("<g>", title, "<svg x=\"", kMargin, "\" y=\"", fixed(y_, 1), "\" width=\"", kLabel, "\" height=\"", kRow,
             "\">", text_at(0, 14, "t", name), "</svg>", bar(kBarsFrom, y_ + 3, part * kLongestBar, kBar, type),
             text_at(kBarsFrom + part * kLongestBar + 8, y_ + 14, "s", text), "</g>\n");
    y_ += kRow;
  }

  void operators() {
    title(host_title("Operators"));
    std::vector<OperatorTime> sums = report_.operators();
    double longest = sums.empty() ? 0 : sums[0].time.us;
    for (const OperatorTime& sum : sums) {
      std::string text =
          join(figures(sum.time, share(sum.time)), " · ", sum.nodes, sum.nodes == 1 ? " node" : " nodes");
      row(sum.type, sum.type, longest > 0 ? sum.time.us / longest : 0, text, "");
    }
  }

  void nodes() {
    title(host_title("Nodes, in the order in which they run"));
    double longest = 0;
    for (const NodeTime& node : report_.nodes) longest = std::max(longest, node.time.us);
    for (const NodeTime& node : report_.nodes) {
      std::string text = figures(node.time, share(node.time));
      if (!node.kernel.empty()) text += join(" · ", shortened(node.kernel, 48));
      row(join(shortened(node.node, 40), node.node == node.type ? "" : " · " + node.type), node.type,
          longest > 0 ? node.time.us / longest : 0, text, tooltip(node, share(node.time)));
    }
  }

  void device() {
    if (!has_device()) return;
    const DeviceTimes& device = report_.device;
    title("On the device: Operators");
    std::vector<KernelSum> sums = device.sums(&KernelTime::type);
    for (const KernelSum& sum : sums) device_row(sum.name, sum.name, sum.time, sums[0].time.us, "");
    title("On the device: kernels of nodes");
    double longest = device.by_time()[0]->time.us;
    for (const KernelTime& k : device.kernels) {
      std::string name = join(shortened(k.node, 40), k.node == k.type ? "" : " · " + k.type);
      std::string about =
          join("<title>", escaped(join(k.node, " (", k.type, ") on ", k.provider, ", kernel ", k.kernel)), "</title>");
      device_row(name, k.type, k.time, longest, k.kernel, about);
    }
  }

  void device_row(const std::string& name, const std::string& type, const RunTime& time, double longest,
                  const std::string& kernel, const std::string& about = "") {
    std::string text = join(figures(time, report_.device.share(time)), " · ", fixed(time.calls, 0),
                            time.calls == 1 ? " launch" : " launches");
    if (!kernel.empty()) text += join(" · ", shortened(kernel, 48));
    row(name, type, longest > 0 ? time.us / longest : 0, text, about);
  }

  const TimeReport& report_;
  double all_, y_ = kMargin;
  std::string body_;
};

constexpr const char* kPageStyle =
    "body{font:14px system-ui,sans-serif;margin:0 auto;max-width:1250px;padding:16px;color:#222;background:#fff}"
    "svg{max-width:100%;height:auto}h2{font-size:16px;margin:28px 0 6px}"
    "table{border-collapse:collapse;font-size:13px}td,th{border-bottom:1px solid #8884;padding:3px 10px;"
    "text-align:left}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr:last-child td{font-weight:bold}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1c1f}}";

}  // namespace

std::string time_picture(const TimeReport& report) { return TimePicture(report).svg(); }

std::string time_page(const TimeReport& report) {
  std::string device;
  if (!report.device.kernels.empty()) {
    device = join("<h2>Kernels on the device by time</h2>\n", html_table(kernel_rows(report)),
                  "<h2>Operators on the device</h2>\n", html_table(kernel_sum_rows(report, &KernelTime::type)),
                  "<h2>Kernels on the device</h2>\n", html_table(kernel_sum_rows(report, &KernelTime::kernel)));
  }
  return join("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>", escaped(report.model),
              ": where the time goes</title><style>", kPageStyle, "</style></head><body>\n", time_picture(report),
              "<h2>Nodes by time</h2>\n", html_table(node_rows(report)), "<h2>Operators</h2>\n",
              html_table(operator_rows(report)), device, "</body></html>\n");
}

}  // namespace ortolan::tools
