#pragma once

#include "detector.hpp"
#include "tails.hpp"

namespace quern::anomaly {

/// A detector whose raw score is the sum of `term` over the tails of the columns. Without parameters.
template <double (*term)(const Tail&)>
class TailSum final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    std::vector<double> scores(rows.rows);
    fit_and_score(rows, options, scores, work);
  }
  void fit_and_score(const Matrix& rows, const FitOptions&, std::span<double> scores, const Work& work) override {
    tails_.fit_and_sum(rows, scores, work, term);
  }
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

}  // namespace quern::anomaly
