#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "../base/random.hpp"
#include "detectors.hpp"
#include "explain.hpp"
#include "histogram.hpp"
#include "limits.hpp"
#include "state.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kCuts = 100;
/// Edges that a value is compared with: the first nine. So a value within the first bin is looked up in the second, as
/// PyOD does it.
constexpr size_t kEdges = kBins - 1;
/// Added to the count of a bin, so that an empty one has a finite score.
constexpr double kLeastCount = 1e-12;

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
    edges_.clear();
    terms_.clear();
    const double all = static_cast<double>(rows.rows) + kBins * kLeastCount;
    for (const Histogram& histogram :
         histograms(rows, kCuts, work,
                    [&](const ColumnBlock&block, size_t cut, double*room) { return project(block, cut, room); })) {
      edges_.insert(edges_.end(), histogram.edges.begin(), histogram.edges.end());
      for (const uint64_t inside : histogram.counts)
        terms_.push_back(-std::log((static_cast<double>(inside) + kLeastCount) / all));
    }
    complete();
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    const BinKernels& kernels = bin_kernels();
    work.parallel(rows.rows, kBlockGrain, [&](size_t first, size_t last) {
      each_block(rows, first, last, [&](const ColumnBlock& block) {
        double sums[ColumnBlock::kMostRows] = {}, places[ColumnBlock::kMostRows];
        for (size_t cut = 0; cut < kCuts; ++cut)
          kernels.add_terms(project(block, cut, places), block.padded(), &edges_[cut * (kBins + 1)], kEdges,
                            &tables_[cut * kMostBins], sums);
        for (size_t i = 0; i < block.count(); ++i)
          scores[block.first() + i] = sums[i] / static_cast<double>(kCuts * kCuts);
      });
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, centre_, shares);
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
    complete();
  }

 private:
  /// The square root of kMostColumns.
  static constexpr size_t kMostKept = 128;
  static_assert(kMostKept * kMostKept == kMostColumns);

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

  /// The projections of a block's rows, which it writes to `room`.
  const double* project(const ColumnBlock& block, size_t cut, double* room) const {
    std::array<const double*, kMostKept> columns;
    for (size_t i = 0; i < kept_; ++i) columns[i] = block.column(column_[cut * kept_ + i]);
    bin_kernels().project(columns.data(), &weight_[cut * kept_], kept_, room, block.padded());
    return room;
  }

  void complete() {
    tables_.assign(kCuts * kMostBins, 0);
    for (size_t cut = 0; cut < kCuts; ++cut) std::copy_n(&terms_[cut * kBins], kBins, &tables_[cut * kMostBins]);
  }

  size_t kept_ = 0;
  std::vector<double> centre_;
  std::vector<uint32_t> column_;  ///< kept_ of each cut
  std::vector<double> weight_;    ///< kept_ of each cut
  std::vector<double> edges_;     ///< kBins + 1 of each cut
  std::vector<double> terms_;     ///< kBins of each cut: minus the logarithm of its share
  std::vector<double> tables_;    ///< the same, kMostBins of each cut
};

}  // namespace

std::unique_ptr<Detector> make_loda() {
  return std::make_unique<Loda>();
}

}  // namespace quern::anomaly
