#include <algorithm>

#include "detectors.hpp"
#include "tails.hpp"

namespace quern::anomaly {
namespace {

/// The most surprising tail of a value.
double term(const Tail& tail) {
  return std::max({tail.left, tail.right, tail.skewed});
}

/**
 * ECOD: per column, how small the share of values is that lie as far out; the sum of the logarithms is the score. No
 * parameters. Li, Zhao, Hu, Botta, Ionescu and Chen, "ECOD: Unsupervised Outlier Detection Using Empirical Cumulative
 * Distribution Functions", 2022. It pools the rows to be scored with the fitted ones; here each row is pooled alone.
 */
class Ecod final : public Detector {
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

std::unique_ptr<Detector> make_ecod() {
  return std::make_unique<Ecod>();
}

}  // namespace quern::anomaly
