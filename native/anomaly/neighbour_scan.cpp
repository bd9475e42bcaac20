#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../kernels/dense.hpp"
#include "neighbours.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<float>;
/// Queries that are compared with the same rows while these are in a near cache.
constexpr size_t kQueries = 16;
/// Panels that are compared before anyone looks at the result.
constexpr size_t kPanels = 8;
/// Bounds that wait for their true distance.
constexpr size_t kMostWaiting = 4096;
/// Lengths, in units of the middle one, whose squares floats still hold with room for sums.
constexpr double kMostLength = 0x1p40;
/// More than what sums of the least floats lose.
constexpr double kLeastError = 1e-36;

/**
 * With h = |x|^2 / 2 - q * x the squared distance is |q|^2 + 2 h. Floats give h with an error of at most
 * c (|q| |x| + |x|^2 / 2), where c is a few units of rounding per column. Rows carry two more columns, and queries
 * their counterparts, so that the product is -(h - error): a lower bound.
 */
class Scan final : public Neighbours {
 public:
  Scan(const Matrix& rows, const Work& work)
      : rows_(rows),
        columns_(rows.columns),
        depth_(rows.columns + 2),
        error_((static_cast<double>(rows.columns) + 10) * 0x1p-23),
        kernels_(dense_kernels<float>()) {
    centre_.resize(columns_);
    lengths_.resize(rows.rows);
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns_; ++k) centre_[k] += rows.row(i)[k] / static_cast<double>(rows.rows);
    work.parallel(rows.rows, 1024, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i)
        lengths_[i] = std::sqrt(square_between(rows.row(i).data(), centre_.data(), columns_));
    });
    std::vector<double> sorted = lengths_;
    std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
    const double middle = sorted[sorted.size() / 2];
    scale_ = middle > 0 ? std::exp2(-std::round(std::log2(middle))) : 1;
    for (size_t i = 0; i < rows.rows; ++i)
      (lengths_[i] * scale_ > kMostLength ? far_ : near_).push_back(static_cast<uint32_t>(i));
    fill_panels(work);
  }

  void search(const Matrix& queries, size_t k, const Work& work, const Each& each) const override {
    k = std::min(k, rows_.rows);
    work.parallel(queries.rows, kQueries, [&](size_t first, size_t last) {
      Block block(*this, k, last - first);
      block.find(queries.values + first * columns_, work);
      for (size_t i = first; i < last; ++i) each(i, block.found(i - first));
    });
  }

 private:
  struct Waiting {
    float low;
    uint32_t row;
  };

  /// Queries that are answered together, and what they have found so far.
  class Block {
   public:
    Block(const Scan& scan, size_t k, size_t count)
        : scan_(scan), k_(k), count_(count), room_(k * count), uppers_(k * count), waiting_(count), states_(count) {}

    void find(const double* points, const Work& work) {
      points_ = points;
      fill();
      std::vector<float> low(count_ * kPanels * kLanes);
      const size_t step = kPanels * kLanes;
      const size_t panels = scan_.panels_.size() / (scan_.depth_ * kLanes);
      for (size_t first = 0; first < panels; first += kPanels) {
        work.check();
        const size_t some = std::min(kPanels, panels - first);
        for (size_t panel = 0; panel < some; ++panel)
          scan_.kernels_.multiply({table_.data(), scan_.depth_, 1}, count_,
                                  &scan_.panels_[(first + panel) * scan_.depth_ * kLanes], kLanes, scan_.depth_,
                                  &low[panel * kLanes], step);
        for (size_t query = 0; query < count_; ++query) take(query, &low[query * step], first, some);
      }
      for (size_t query = 0; query < count_; ++query) finish(query, work);
    }

    std::span<const Neighbour> found(size_t query) const { return states_[query].nearest.found(); }

   private:
    struct State {
      Nearest nearest{{}};
      double length = 0;     ///< of the query from the centre, scaled
      bool scanned = false;  ///< too long for floats: every row is looked at
      size_t uppers = 0;
      float bound = std::numeric_limits<float>::infinity();
    };

    const double* point(size_t query) const { return points_ + query * scan_.columns_; }

    void fill() {
      table_.assign(count_ * scan_.depth_, 0);
      for (size_t query = 0; query < count_; ++query) {
        State& state = states_[query];
        state.nearest = Nearest(std::span(room_).subspan(query * k_, k_));
        state.length = std::sqrt(square_between(point(query), scan_.centre_.data(), scan_.columns_)) * scan_.scale_;
        state.scanned = !(state.length <= kMostLength);
        if (state.scanned) continue;
        float* line = &table_[query * scan_.depth_];
        for (size_t k = 0; k < scan_.columns_; ++k)
          line[k] = static_cast<float>(-(point(query)[k] - scan_.centre_[k]) * scan_.scale_);
        line[scan_.columns_] = 1;
        line[scan_.columns_ + 1] = static_cast<float>(-state.length);
      }
    }

    /// Keeps the rows of some panels whose lower bound is within the k-th least upper bound.
    void take(size_t query, const float* low, size_t first_panel, size_t panels) {
      State& state = states_[query];
      if (state.scanned || scan_.kernels_.count_within(low, panels, state.bound) == 0) return;
      for (size_t i = 0; i < panels * kLanes; ++i) {
        if (!(low[i] <= state.bound)) continue;
        const size_t place = first_panel * kLanes + i;
        if (place >= scan_.near_.size()) break;
        const uint32_t row = scan_.near_[place];
        waiting_[query].push_back({low[i], row});
        const double length = scan_.lengths_[row] * scan_.scale_;
        // The bound itself was rounded too.
        const double upper = low[i] + 2.1 * scan_.error_ * length * (state.length + length / 2) + 3 * kLeastError;
        tighten(query, upper);
        if (waiting_[query].size() == kMostWaiting) settle(query);
      }
    }

    /// Remembers the k least upper bounds.
    void tighten(size_t query, double upper) {
      State& state = states_[query];
      double* uppers = &uppers_[query * k_];
      if (state.uppers < k_)
        ++state.uppers;
      else if (upper >= uppers[k_ - 1])
        return;
      size_t at = state.uppers - 1;
      for (; at > 0 && upper < uppers[at - 1]; --at) uppers[at] = uppers[at - 1];
      uppers[at] = upper;
      if (state.uppers == k_)
        state.bound = std::nextafter(static_cast<float>(uppers[k_ - 1]), std::numeric_limits<float>::infinity());
    }

    /// Looks at the true distances of those that wait.
    void settle(size_t query) {
      State& state = states_[query];
      for (const Waiting& one : waiting_[query])
        if (one.low <= state.bound) look(query, one.row);
      waiting_[query].clear();
      // Nothing is nearer than a row's equals.
      if (state.nearest.bound() == 0) state.bound = -std::numeric_limits<float>::infinity();
    }

    void look(size_t query, uint32_t row) {
      states_[query].nearest.offer({square_between(point(query), scan_.rows_.row(row).data(), scan_.columns_), row});
    }

    void finish(size_t query, const Work& work) {
      settle(query);
      for (const uint32_t row : scan_.far_) look(query, row);
      if (!states_[query].scanned) return;
      for (size_t i = 0; i < scan_.near_.size(); ++i) {
        if (i % 4096 == 0) work.check();
        look(query, scan_.near_[i]);
      }
    }

    const Scan& scan_;
    const size_t k_;
    const size_t count_;
    const double* points_ = nullptr;
    std::vector<float> table_;
    std::vector<Neighbour> room_;
    std::vector<double> uppers_;
    std::vector<std::vector<Waiting>> waiting_;
    std::vector<State> states_;
  };

  void fill_panels(const Work& work) {
    const size_t panels = (near_.size() + kLanes - 1) / kLanes;
    // Places without a row are NaN, which no comparison lets in.
    panels_.assign(panels * depth_ * kLanes, std::numeric_limits<float>::quiet_NaN());
    work.parallel(panels, 64, [&](size_t first, size_t last) {
      for (size_t place = first * kLanes; place < std::min(last * kLanes, near_.size()); ++place) {
        const uint32_t row = near_[place];
        float* to = &panels_[place / kLanes * depth_ * kLanes + place % kLanes];
        for (size_t k = 0; k < columns_; ++k)
          to[k * kLanes] = static_cast<float>((rows_.row(row)[k] - centre_[k]) * scale_);
        const double length = lengths_[row] * scale_;
        to[columns_ * kLanes] = static_cast<float>(length * length / 2 * (1 - error_) - kLeastError);
        to[(columns_ + 1) * kLanes] = static_cast<float>(error_ * length);
      }
    });
  }

  const Matrix rows_;
  const size_t columns_;
  const size_t depth_;
  const double error_;
  const DenseKernels<float>& kernels_;
  double scale_ = 1;
  std::vector<double> centre_;
  std::vector<double> lengths_;  ///< of rows from the centre
  std::vector<uint32_t> near_;   ///< the rows of the panels
  std::vector<uint32_t> far_;    ///< rows too long for floats
  std::vector<float> panels_;
};

}  // namespace

std::unique_ptr<Neighbours> make_neighbour_scan(const Matrix& rows, const Work& work) {
  return std::make_unique<Scan>(rows, work);
}

}  // namespace quern::anomaly
