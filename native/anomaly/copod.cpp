#include <algorithm>

#include "detectors.hpp"
#include "tails.hpp"

namespace quern::anomaly {
namespace {

/// The tail on the longer side of the column, at least the mean of both.
double term(const Tail& tail) {
  return std::max(tail.skewed, (tail.left + tail.right) / 2);
}

/**
 * COPOD: the tail probability of a row under the empirical copula of the columns, as a sum of logarithms. No
 * parameters. Li, Zhao, Botta, Ionescu and Hu, "COPOD: Copula-Based Outlier Detection", 2020. It pools the rows to be
 * scored with the fitted ones; here each row is pooled alone.
 */
class Copod final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions&, const Work& work) override { tails_.fit(rows, work); }
  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    tails_.sum(rows, scores, work, term);
  }
  void explain(std::span<const double> row, std::span<double> shares) const override {
    tails_.terms(row, shares, term);
  }
  State state() const override { return tails_.state(); }
  void restore(const State& state) override { tails_.restore(state); }

 private:
  Tails tails_;
};

}  // namespace

std::unique_ptr<Detector> make_copod() {
  return std::make_unique<Copod>();
}

}  // namespace quern::anomaly
