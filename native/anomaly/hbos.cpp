#include <algorithm>
#include <array>
#include <cmath>

#include "detectors.hpp"
#include "histogram.hpp"
#include "limits.hpp"
#include "state.hpp"

namespace quern::anomaly {
namespace {

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
    columns_.clear();
    for (const Histogram& histogram :
         histograms(rows, rows.columns, work,
                    [](const ColumnBlock&block, size_t column, double*) { return block.column(column); }))
      columns_.push_back(Column::of(histogram, rows.rows));
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    const BinKernels& kernels = bin_kernels();
    work.parallel(rows.rows, kBlockGrain, [&](size_t first, size_t last) {
      each_block(rows, first, last, [&](const ColumnBlock& block) {
        double sums[ColumnBlock::kMostRows] = {};
        for (size_t i = 0; i < columns_.size(); ++i)
          kernels.add_terms(block.column(i), block.padded(), columns_[i].bounds.data(), kBounds,
                            columns_[i].table.data(), sums);
        std::copy_n(sums, block.count(), &scores[block.first()]);
      });
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
      terms.insert(terms.end(), column.terms.begin(), column.terms.end());
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
  /// Where the terms change: the inner edges, and what is too far out on both sides.
  static constexpr size_t kBounds = kInnerEdges + 2;

  struct Column {
    std::array<double, kBins + 1> edges;
    std::array<double, kBins> terms;
    /// A value has as many of these below it as its term has before it in the table: bins are closed on the right here,
    /// as PyOD looks values up, though not where it counts them.
    std::array<double, kBounds> bounds;
    std::array<double, kMostBins> table;

    static Column of(const Histogram& histogram, size_t rows) {
      Column column{histogram.edges, {}, {}, {}};
      for (size_t i = 0; i < kBins; ++i) {
        const double width = column.edges[i + 1] - column.edges[i];
        const double density = static_cast<double>(histogram.counts[i]) / width / static_cast<double>(rows);
        column.terms[i] = std::clamp(-std::log2(density + kAlpha), -kMostScore, kMostScore);
      }
      column.complete();
      return column;
    }

    void complete() {
      const double rarest = std::ranges::max(terms);
      const double reach = (edges[1] - edges[0]) * kTolerance;
      // The least value that is not too far out counts to the first bin.
      bounds.front() = std::nextafter(edges.front() - reach, std::numeric_limits<double>::lowest());
      std::copy_n(edges.begin() + 1, kInnerEdges, bounds.begin() + 1);
      bounds.back() = edges.back() + reach;
      table.fill(rarest);
      std::ranges::copy(terms, table.begin() + 1);
    }

    double term(double value) const {
      return table[static_cast<size_t>(std::ranges::count_if(bounds, [&](double bound) { return value > bound; }))];
    }
  };

  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<Detector> make_hbos() {
  return std::make_unique<Hbos>();
}

}  // namespace quern::anomaly
