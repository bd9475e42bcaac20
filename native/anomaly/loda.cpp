#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "detectors.hpp"
#include "explain.hpp"
#include "histogram.hpp"
#include "limits.hpp"
#include "random.hpp"
#include "state.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kCuts = 100;
constexpr size_t kBins = 10;
/// Edges that a value is compared with: the first nine. So a value within the first bin is looked up in the second, as
/// PyOD does it.
constexpr size_t kEdges = kBins - 1;
/// Added to the count of a bin, so that an empty one has a finite score.
constexpr double kLeastCount = 1e-12;
/// Rows that are projected together.
constexpr size_t kBlock = 256;
constexpr size_t kGrain = 8 * kBlock;

/**
 * LODA: 100 projections onto random directions with sqrt(columns) entries other than zero, each with a histogram of 10
 * bins; the score is the mean of minus the logarithms of the bins' shares, over 100 once more, as PyOD scales it.
 * Pevny, "Loda: Lightweight on-line detector of anomalies", 2016.
 */
class Loda final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    draw(rows.columns, options.seed);
    centre_ = centre_of(rows);
    place_edges(rows, work);
    count(rows, work);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    std::fill(scores.begin(), scores.end(), 0.0);
    each_projection(rows, work, [&](size_t cut, size_t first, std::span<const double> places) {
      const double* const edges = edges_.data() + cut * (kBins + 1);
      const double* const terms = terms_.data() + cut * kBins;
      uint8_t bins[kBlock] = {};
      for (size_t e = 0; e < kEdges; ++e)
        for (size_t i = 0; i < places.size(); ++i) bins[i] += places[i] > edges[e] ? 1 : 0;
      for (size_t i = 0; i < places.size(); ++i) scores[first + i] += terms[bins[i]];
    });
    for (double& score : scores) score /= static_cast<double>(kCuts * kCuts);
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, centre_, row, shares);
  }

  State state() const override {
    return {{"columns", static_cast<double>(centre_.size())},
            {"centre", centre_},
            {"column", std::vector<int32_t>(column_.begin(), column_.end())},
            {"weight", weight_},
            {"edges", edges_},
            {"bin_scores", terms_}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    const size_t columns = reader.count("columns", 1, kMostColumns);
    kept_ = kept_of(columns);
    centre_ = reader.numbers("centre", columns);
    const auto& column = reader.integers("column", kCuts * kept_, 0, static_cast<int32_t>(columns - 1));
    column_.assign(column.begin(), column.end());
    weight_ = reader.numbers("weight", kCuts * kept_);
    edges_ = reader.numbers("edges", kCuts * (kBins + 1));
    terms_ = reader.numbers("bin_scores", kCuts * kBins);
  }

 private:
  static size_t kept_of(size_t columns) { return static_cast<size_t>(std::sqrt(static_cast<double>(columns))); }

  void draw(size_t columns, uint64_t seed) {
    kept_ = kept_of(columns);
    Random random(seed);
    std::vector<uint32_t> all(columns);
    std::iota(all.begin(), all.end(), 0u);
    column_.clear();
    weight_.clear();
    for (size_t cut = 0; cut < kCuts; ++cut)
      for (size_t i = 0; i < kept_; ++i) {
        std::swap(all[i], all[i + random.below(columns - i)]);
        column_.push_back(all[i]);
        weight_.push_back(random.normal());
      }
  }

  /// Calls `each(cut, first, places)` with the projections of the rows from `first` on, in blocks that cuts follow one
  /// another in.
  template <typename Each>
  void each_projection(const Matrix& rows, const Work& work, Each each) const {
    work.parallel(rows.rows, kGrain, [&](size_t from, size_t to) {
      // Column by column, so that neighbours in memory are projected together.
      std::vector<double> block(kBlock * rows.columns);
      double places[kBlock];
      for (size_t first = from; first < to; first += kBlock) {
        const size_t count = std::min(kBlock, to - first);
        for (size_t i = 0; i < count; ++i)
          for (size_t j = 0; j < rows.columns; ++j) block[j * kBlock + i] = rows.values[(first + i) * rows.columns + j];
        for (size_t cut = 0; cut < kCuts; ++cut) {
          std::fill_n(places, count, 0.0);
          for (size_t k = cut * kept_; k < (cut + 1) * kept_; ++k) {
            const double* const column = block.data() + column_[k] * kBlock;
            const double weight = weight_[k];
            for (size_t i = 0; i < count; ++i) places[i] += weight * column[i];
          }
          each(cut, first, std::span<const double>(places, count));
        }
      }
    });
  }

  void place_edges(const Matrix& rows, const Work& work) {
    std::vector<double> least(kCuts, std::numeric_limits<double>::max());
    std::vector<double> most(kCuts, std::numeric_limits<double>::lowest());
    std::mutex mutex;
    each_projection(rows, work, [&](size_t cut, size_t, std::span<const double> places) {
      const auto [low, high] = std::ranges::minmax(places);
      const std::lock_guard lock(mutex);
      least[cut] = std::min(least[cut], low);
      most[cut] = std::max(most[cut], high);
    });
    edges_.clear();
    for (size_t cut = 0; cut < kCuts; ++cut) {
      const Bins bins = Bins::over(std::vector{least[cut], most[cut]}, kBins);
      for (size_t i = 0; i <= kBins; ++i) edges_.push_back(bins.edge(i, kBins));
    }
  }

  void count(const Matrix& rows, const Work& work) {
    std::vector<uint32_t> counts(kCuts * kBins);
    std::mutex mutex;
    each_projection(rows, work, [&](size_t cut, size_t, std::span<const double> places) {
      uint32_t here[kBins];
      count_in_bins(places, std::span(edges_).subspan(cut * (kBins + 1), kBins + 1), here);
      const std::lock_guard lock(mutex);
      for (size_t bin = 0; bin < kBins; ++bin) counts[cut * kBins + bin] += here[bin];
    });
    const double all = static_cast<double>(rows.rows) + kBins * kLeastCount;
    terms_.clear();
    for (const uint32_t inside : counts) terms_.push_back(-std::log((inside + kLeastCount) / all));
  }

  size_t kept_ = 0;
  std::vector<double> centre_;
  std::vector<uint32_t> column_;  ///< kept_ of each cut
  std::vector<double> weight_;    ///< kept_ of each cut
  std::vector<double> edges_;     ///< kBins + 1 of each cut
  std::vector<double> terms_;     ///< kBins of each cut: minus the logarithm of its share
};

}  // namespace

std::unique_ptr<Detector> make_loda() {
  return std::make_unique<Loda>();
}

}  // namespace quern::anomaly
