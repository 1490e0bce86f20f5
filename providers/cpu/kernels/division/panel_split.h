// How the columns of a product are divided into panels. Internal to the kernels.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/**
 * Panels are split so that all but the last two are widest and none is much narrower than its neighbour. Where at most
 * `thin` columns are left over from whole vectors, they are a panel of their own, one vector wide.
 */
class PanelSplit {
 public:
  template <class Kernels>
  PanelSplit(int64_t n, const Kernels& kernels, int64_t thin = 0)
      : n_(n), lanes_(kernels.lanes), widest_(kernels.max_vectors) {
    const int64_t over = n % lanes_;
    thin_ = over > 0 && over <= thin ? over : 0;
    vectors_ = (n - thin_ + lanes_ - 1) / lanes_;
    wide_ = vectors_ / widest_;
    const int64_t rest = vectors_ % widest_;
    split_last_ = widest_ == 3 && rest == 1 && wide_ > 0;
    if (split_last_) --wide_;
    count_ = wide_ + (split_last_ ? 2 : rest != 0) + (thin_ != 0);
  }
  int64_t count() const { return count_; }
  int64_t padded() const { return (vectors_ + (thin_ != 0)) * lanes_; }
  bool thin(int64_t panel) const { return thin_ != 0 && panel == count_ - 1; }
  int vectors(int64_t panel) const {
    if (thin(panel)) return 1;
    if (panel < wide_) return widest_;
    return split_last_ ? 2 : static_cast<int>(vectors_ - wide_ * widest_);
  }
  /** First column of a panel; times k, also where it starts in a packed matrix. */
  int64_t first_column(int64_t panel) const {
    if (thin(panel)) return n_ - thin_;
    return panel <= wide_ ? panel * widest_ * lanes_ : (wide_ * widest_ + (panel - wide_) * 2) * lanes_;
  }
  /** The panel that a column lies in. */
  int64_t panel_of(int64_t column) const {
    int64_t panel = column / (widest_ * lanes_);
    while (panel + 1 < count_ && first_column(panel + 1) <= column) ++panel;
    return panel;
  }
  int64_t width(int64_t panel) const { return int64_t{vectors(panel)} * lanes_; }
  int64_t columns(int64_t panel) const {
    const int64_t left = n_ - first_column(panel);
    return left < width(panel) ? left : width(panel);
  }

 private:
  int64_t n_, lanes_, widest_, vectors_, wide_, count_, thin_;
  bool split_last_;
};

}  // namespace ortolan::cpu::kernels
