// The picture of a model's nodes and where they run: a layered drawing in SVG, with tables below.
#include <algorithm>
#include <set>

#include "common/error.h"
#include "markup.h"
#include "placements.h"

namespace ortolan::tools {
namespace {

constexpr int kBoxWidth = 150, kBoxHeight = 36, kGapX = 24, kGapY = 44, kPageMargin = 20;
constexpr const char* kColours[] = {"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1",
                                    "#e15759", "#76b7b2", "#edc948", "#9c755f"};
constexpr const char* kCpuColour = "#8a8f98";

std::map<std::string, std::string> colours_of(const PlacementReport& report) {
  std::map<std::string, std::string> colours;
  size_t next = 0;
  for (const auto& [provider, count] : report.counts()) {
    bool cpu = provider == "CPUExecutionProvider";
    colours[provider] = cpu ? kCpuColour : kColours[next++ % std::size(kColours)];
  }
  return colours;
}

struct Edge {
  size_t from, to;
  std::string value;
  bool copied = false;
};

// Gives each node a layer below all that it reads from, and an order within the layer that keeps edges short.
class Drawing {
 public:
  explicit Drawing(const PlacementReport& report) : report_(report), layer_(report.nodes.size(), 0) {
    find_edges();
    assign_layers();
    order_layers();
  }

  std::string svg(const std::map<std::string, std::string>& colours) const {
    size_t widest = 0;
    for (const auto& layer : layers_) widest = std::max(widest, layer.size());
    int width = 2 * kPageMargin + int(widest) * (kBoxWidth + kGapX);
    int height = 2 * kPageMargin + int(layers_.size()) * (kBoxHeight + kGapY);
    std::string out =
        join("<svg width=\"", width, "\" height=\"", height, "\" xmlns=\"http://www.w3.org/2000/svg\">\n");
    for (const Edge& edge : edges_) out += line(edge);
    for (size_t i = 0; i < report_.nodes.size(); ++i) out += box(i, colours.at(report_.nodes[i].provider));
    return out + "</svg>\n";
  }

 private:
  void find_edges() {
    std::map<std::string, size_t> maker;
    for (size_t i = 0; i < report_.nodes.size(); ++i) {
      for (const std::string& output : report_.nodes[i].outputs) maker[output] = i;
    }
    std::set<std::pair<std::string, std::string>> copied;
    for (const ValueCopy& copy : report_.copies) copied.emplace(copy.value, copy.to);
    for (size_t i = 0; i < report_.nodes.size(); ++i) {
      const Placement& reader = report_.nodes[i];
      for (const std::string& input : reader.inputs) {
        auto found = maker.find(input);
        if (found == maker.end() || found->second == i) continue;
        edges_.push_back({found->second, i, input, copied.contains({input, reader.provider})});
      }
    }
  }

  // Nodes come with producers first inside a provider only, so this repeats until nothing moves; a model without cycles
  // needs at most as many rounds as it has layers.
  void assign_layers() {
    bool moved = true;
    for (size_t round = 0; moved && round <= layer_.size(); ++round) {
      moved = false;
      for (const Edge& edge : edges_) {
        if (layer_[edge.to] > layer_[edge.from]) continue;
        layer_[edge.to] = layer_[edge.from] + 1;
        moved = true;
      }
    }
    for (size_t i = 0; i < layer_.size(); ++i) {
      if (layers_.size() <= layer_[i]) layers_.resize(layer_[i] + 1);
      layers_[layer_[i]].push_back(i);
    }
  }

  void order_layers() {
    place_.resize(layer_.size());
    auto number = [&](const std::vector<size_t>& layer) {
      for (size_t i = 0; i < layer.size(); ++i) place_[layer[i]] = double(i);
    };
    for (const auto& layer : layers_) number(layer);
    for (auto& layer : layers_) {
      std::map<size_t, std::pair<double, int>> pull;
      for (const Edge& edge : edges_) {
        if (layer_[edge.to] != size_t(&layer - layers_.data())) continue;
        pull[edge.to].first += place_[edge.from];
        ++pull[edge.to].second;
      }
      for (size_t node : layer) {
        if (auto found = pull.find(node); found != pull.end())
          place_[node] = found->second.first / found->second.second;
      }
      std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) { return place_[a] < place_[b]; });
      number(layer);
    }
  }

  int x(size_t node) const { return kPageMargin + int(place_[node]) * (kBoxWidth + kGapX); }
  int y(size_t node) const { return kPageMargin + int(layer_[node]) * (kBoxHeight + kGapY); }

  std::string line(const Edge& edge) const {
    int x1 = x(edge.from) + kBoxWidth / 2, y1 = y(edge.from) + kBoxHeight;
    int x2 = x(edge.to) + kBoxWidth / 2, y2 = y(edge.to), bend = kGapY * 3 / 4;
    std::string out = join("<path class=\"", edge.copied ? "copy" : "edge", "\" d=\"M", x1, ",", y1, " C", x1, ",",
                           y1 + bend, " ", x2, ",", y2 - bend, " ", x2, ",", y2, "\"><title>", escaped(edge.value),
                           edge.copied ? " (copied between devices)" : "", "</title></path>\n");
    if (edge.copied)
      out += join("<text class=\"copied\" x=\"", (x1 + x2) / 2, "\" y=\"", (y1 + y2) / 2, "\">copy</text>\n");
    return out;
  }

  std::string box(size_t node, const std::string& colour) const {
    const Placement& placement = report_.nodes[node];
    std::string about = placement.node + " (" + placement.type + ") on " + placement.provider + "\n" + placement.reason;
    if (placement.group >= 0) about += join("\none of the nodes that group ", placement.group, " computes at once");
    int left = x(node), top = y(node);
    return join("<g><title>", escaped(about), "</title><rect x=\"", left, "\" y=\"", top, "\" width=\"", kBoxWidth,
                "\" height=\"", kBoxHeight, "\" rx=\"5\" fill=\"", colour, "\"",
                placement.group >= 0 ? " class=\"fused\"" : "", "/><text x=\"", left + 8, "\" y=\"", top + 15,
                "\" class=\"op\">", escaped(shortened(placement.type, 20)), "</text><text x=\"", left + 8, "\" y=\"",
                top + 29, "\">", escaped(shortened(placement.node, 22)), "</text></g>\n");
  }

  const PlacementReport& report_;
  std::vector<Edge> edges_;
  std::vector<size_t> layer_;
  std::vector<std::vector<size_t>> layers_;
  std::vector<double> place_;
};

std::string legend(const PlacementReport& report, const std::map<std::string, std::string>& colours) {
  std::string out = "<p>";
  for (const auto& [provider, count] : report.counts()) {
    out += join("<span class=\"key\" style=\"background:", colours.at(provider), "\"></span>", escaped(provider), ": ",
                count, " of ", report.nodes.size(), " nodes &nbsp; ");
  }
  return out + join("<span class=\"copykey\"></span>", report.copies.size(), " copies between devices</p>\n");
}

constexpr const char* kPlacementStyle =
    "body{font:14px system-ui,sans-serif;margin:20px;color:#222;background:#fff}"
    ".graph{overflow:auto;max-height:75vh;border:1px solid #ccc}"
    "svg text{font-size:11px;fill:#fff}svg text.op{font-weight:bold}svg text.copied{fill:#c00}"
    "rect.fused{stroke:#222;stroke-dasharray:4 2;stroke-width:2}"
    ".edge{fill:none;stroke:#999}.copy{fill:none;stroke:#c00;stroke-width:2;stroke-dasharray:5 3}"
    ".key{display:inline-block;width:12px;height:12px;margin-right:4px}"
    ".copykey{display:inline-block;width:18px;border-top:2px dashed #c00;margin:0 4px 4px 0}"
    "table{border-collapse:collapse;margin-top:16px}td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}";

}  // namespace

std::string placement_page(const std::string& title, const PlacementReport& report) {
  auto colours = colours_of(report);
  std::vector<std::vector<std::string>> nodes = {{"node", "operator", "provider", "why"}};
  for (const Placement& p : report.nodes) nodes.push_back({p.node, p.type, p.provider, p.reason});
  std::vector<std::vector<std::string>> copies = {{"value copied", "from", "to"}};
  for (const ValueCopy& copy : report.copies) copies.push_back({copy.value, copy.from, copy.to});
  return join("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escaped(title),
              "</title><style>", kPlacementStyle, "</style></head><body>\n<h1>", escaped(title), "</h1>\n",
              legend(report, colours), "<div class=\"graph\">\n", Drawing(report).svg(colours), "</div>\n",
              html_table(nodes), report.copies.empty() ? "" : html_table(copies), "</body></html>\n");
}

}  // namespace ortolan::tools
