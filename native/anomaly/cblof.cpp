#include <algorithm>
#include <cmath>
#include <numeric>

#include "clusters.hpp"
#include "detectors.hpp"
#include "explain.hpp"
#include "limits.hpp"
#include "state.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kClusters = 8;
/// Large clusters hold this share of the rows together,
constexpr double kLargeShare = 0.9;
/// or are so many times larger than the next one.
constexpr double kLargeRatio = 5;
constexpr size_t kGrain = 1024;

/**
 * The distance to the nearest large cluster's centre, which for a row of a large cluster is its own (He, Xu and Deng,
 * "Discovering cluster-based local outliers", 2003, without weights). Where neither rule tells large clusters from
 * small ones, all are large.
 */
class Cblof final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    columns_ = rows.columns;
    Clusters clusters = cluster(rows, std::min(kClusters, rows.rows), options.seed, work);
    const size_t count = clusters.sizes.size();
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return clusters.sizes[i]; });
    std::vector<size_t> sizes;
    for (const size_t i : order) sizes.push_back(clusters.sizes[i]);
    order.resize(large_count(sizes, rows.rows));
    centres_.clear();
    for (const size_t i : order) {
      const auto centre = clusters.centres.begin() + static_cast<std::ptrdiff_t>(i * columns_);
      centres_.insert(centres_.end(), centre, centre + static_cast<std::ptrdiff_t>(columns_));
    }
    middle_ = column_means(rows);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    const Centres centres(centres_, columns_);
    work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
      double squares[Centres::kRows * kMostClusters];
      for (size_t at = first; at < last; at += Centres::kRows) {
        const size_t some = std::min(Centres::kRows, last - at);
        centres.squares(rows.row(at).data(), some, squares);
        for (size_t i = 0; i < some; ++i) {
          const double* const from = squares + i * kMostClusters;
          scores[at + i] = std::sqrt(*std::min_element(from, from + centres.count()));
        }
      }
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, middle_, shares);
  }

  State state() const override {
    return {{"columns", static_cast<double>(columns_)}, {"centres", centres_}, {"middle", middle_}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    const size_t numbers = reader.length("centres");
    if (numbers % columns_ != 0 || numbers < columns_ || numbers > kClusters * columns_)
      refuse_entry("centres", "must hold 1 to " + std::to_string(kClusters) + " whole rows");
    centres_ = reader.numbers("centres", numbers, {-kMostMagnitude, kMostMagnitude});
    middle_ = reader.numbers("middle", columns_, {-kMostMagnitude, kMostMagnitude});
  }

 private:
  /// How many of the clusters, largest first, are large: the first number that satisfies both rules, else the first,
  /// else the second.
  static size_t large_count(const std::vector<size_t>& sizes, size_t rows) {
    size_t by_share = 0, by_ratio = 0;
    double sum = 0;
    for (size_t i = 1; i < sizes.size(); ++i) {
      sum += static_cast<double>(sizes[i - 1]);
      const bool share = sum >= kLargeShare * static_cast<double>(rows);
      const bool ratio = static_cast<double>(sizes[i - 1]) >= kLargeRatio * static_cast<double>(sizes[i]);
      if (share && ratio) return i;
      if (share && by_share == 0) by_share = i;
      if (ratio && by_ratio == 0) by_ratio = i;
    }
    if (by_share > 0) return by_share;
    return by_ratio > 0 ? by_ratio : sizes.size();
  }

  size_t columns_ = 0;
  std::vector<double> centres_;  ///< of the large clusters
  std::vector<double> middle_;
};

}  // namespace

std::unique_ptr<Detector> make_cblof() {
  return std::make_unique<Cblof>();
}

}  // namespace quern::anomaly
