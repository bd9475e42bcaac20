#include <cmath>

#include "detectors.hpp"
#include "explain.hpp"
#include "forest.hpp"
#include "limits.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kTrees = 100;
constexpr size_t kMostSample = 256;

/**
 * Isolation forest: trees that split a random column at a random place; a row that ends near the root is easy to
 * isolate. The score is 2^(-depth / c(sample)) less the value that `contamination` of the fitted rows exceed, so 0
 * divides them. Liu, Ting and Zhou, "Isolation Forest", 2008; 100 trees of 256 rows, as there and in scikit-learn.
 */
class IsolationForest final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    std::vector<double> scores(rows.rows);
    fit_and_score(rows, options, scores, work);
  }

  void fit_and_score(const Matrix& rows, const FitOptions& options, std::span<double> scores,
                     const Work& work) override {
    forest_.fit(rows, kTrees, kMostSample, options.seed, work);
    centre_ = centre_of(rows);
    offset_ = 0;
    score(rows, scores, work);
    std::vector<double> values(scores.begin(), scores.end());
    offset_ = percentile(values, 1 - options.contamination);
    for (double& value : scores) value -= offset_;
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    forest_.depths(rows, scores, work);
    const double unit = mean_depth(forest_.sample());
    for (double& value : scores) value = std::exp2(-value / unit) - offset_;
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, centre_, shares);
  }

  State state() const override {
    State state = forest_.state();
    state["columns"] = static_cast<double>(centre_.size());
    state["centre"] = centre_;
    state["offset"] = offset_;
    return state;
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    const size_t columns = reader.count("columns", 1, kMostColumns);
    centre_ = reader.numbers("centre", columns);
    offset_ = reader.number("offset", {0, 1});
    forest_.restore(state, columns);
  }

 private:
  Forest forest_;
  std::vector<double> centre_;
  double offset_ = 0;
};

}  // namespace

std::unique_ptr<Detector> make_isolation_forest() {
  return std::make_unique<IsolationForest>();
}

}  // namespace quern::anomaly
