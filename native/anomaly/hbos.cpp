#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "detectors.hpp"
#include "histogram.hpp"
#include "limits.hpp"
#include "state.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kBins = 10;
/// Added to a density, so that an empty bin has a finite score.
constexpr double kAlpha = 0.1;
/// Share of a bin's width, by which a value outside still counts to the bin at the edge.
constexpr double kTolerance = 0.5;

/**
 * HBOS: per column the density of the bin that holds the value, in a histogram of 10 bins of equal width; the score is
 * minus the sum of their logarithms to base 2. Goldstein and Dengel, "Histogram-based Outlier Score (HBOS)", 2012; the
 * constants and the rules at the edges are those of PyOD.
 */
class Hbos final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions&, const Work& work) override {
    columns_.assign(rows.columns, {});
    each_column(rows, work,
                [&](size_t column, std::vector<double>& values) { columns_[column] = Column::fit(values); });
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
      for (size_t at = first; at < last; ++at) {
        const double* const row = rows.values + at * rows.columns;
        double sum = 0;
        for (size_t i = 0; i < columns_.size(); ++i) sum += columns_[i].term(row[i]);
        scores[at] = sum;
      }
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    for (size_t i = 0; i < row.size(); ++i) shares[i] = columns_[i].term(row[i]);
  }

  State state() const override {
    std::vector<double> edges;
    std::vector<double> terms;
    for (const Column& column : columns_) {
      edges.insert(edges.end(), column.edges.begin(), column.edges.end());
      terms.insert(terms.end(), column.terms.begin(), column.terms.begin() + kBins);
    }
    return {{"columns", static_cast<double>(columns_.size())},
            {"edges", std::move(edges)},
            {"bin_scores", std::move(terms)}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    const size_t columns = reader.count("columns", 1, kMostColumns);
    const std::vector<double>& edges = reader.numbers("edges", columns * (kBins + 1));
    const std::vector<double>& terms = reader.numbers("bin_scores", columns * kBins, {-kMostScore, kMostScore});
    columns_.assign(columns, {});
    for (size_t i = 0; i < columns; ++i) {
      Column& column = columns_[i];
      std::copy_n(edges.begin() + static_cast<std::ptrdiff_t>(i * (kBins + 1)), kBins + 1, column.edges.begin());
      if (!std::ranges::is_sorted(column.edges))
        refuse_entry("edges", "is not in ascending order in column " + std::to_string(i));
      std::copy_n(terms.begin() + static_cast<std::ptrdiff_t>(i * kBins), kBins, column.terms.begin());
      column.complete();
    }
  }

 private:
  static constexpr size_t kGrain = 4096;

  struct Column {
    std::array<double, kBins + 1> edges;
    std::array<double, kBins + 1> terms;  ///< of the bins, then that of the rarest
    double least;                         ///< values below count to the rarest bin
    double most;                          ///< values above do too

    static Column fit(const std::vector<double>& values) {
      Column column;
      const Bins bins = Bins::over(values, kBins);
      for (size_t i = 0; i <= kBins; ++i) column.edges[i] = bins.edge(i, kBins);
      std::array<uint32_t, kBins> counts;
      count_in_bins(values, column.edges, counts);
      for (size_t i = 0; i < kBins; ++i) {
        const double density = counts[i] / (column.edges[i + 1] - column.edges[i]) / static_cast<double>(values.size());
        column.terms[i] = std::clamp(-std::log2(density + kAlpha), -kMostScore, kMostScore);
      }
      column.complete();
      return column;
    }

    void complete() {
      terms[kBins] = *std::max_element(terms.begin(), terms.begin() + kBins);
      const double reach = (edges[1] - edges[0]) * kTolerance;
      least = edges.front() - reach;
      most = edges.back() + reach;
    }

    /// Bins are closed on the right here, as PyOD looks values up, though not where it counts them.
    double term(double value) const {
      size_t bin = 0;
      for (size_t i = 1; i < kBins; ++i) bin += value > edges[i] ? 1 : 0;
      return terms[value < least || value > most ? kBins : bin];
    }
  };

  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<Detector> make_hbos() {
  return std::make_unique<Hbos>();
}

}  // namespace quern::anomaly
