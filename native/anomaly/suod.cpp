#include <array>

#include "detectors.hpp"
#include "limits.hpp"
#include "state.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

/**
 * SUOD: the mean of the scores of isolation forest, HBOS and COPOD, each in standard deviations from the mean over the
 * fitted rows. Zhao, Hu, Cheng, Wang, Wan, Wang, Yang, Bai, Li, Xiao, Wang, Qiao, Sun and Akoglu, "SUOD: Accelerating
 * Large-Scale Unsupervised Heterogeneous Outlier Detection", 2021; what it does for speed, projections and regressors
 * that approximate the detectors, costs accuracy and is left out.
 */
class Suod final : public Detector {
 public:
  Suod()
      : parts_{Part{"isolation_forest", make_isolation_forest()}, Part{"hbos", make_hbos()},
               Part{"copod", make_copod()}} {}

  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    std::vector<double> scores(rows.rows);
    fit_and_score(rows, options, scores, work);
  }

  void fit_and_score(const Matrix& rows, const FitOptions& options, std::span<double> scores,
                     const Work& work) override {
    columns_ = rows.columns;
    std::vector<double> raw(rows.rows);
    std::ranges::fill(scores, 0.0);
    for (Part& part : parts_) {
      part.detector->fit_and_score(rows, options, raw, work);
      const Moments all = moments(raw);
      part.mean = all.mean;
      part.deviation = all.deviation > 0 ? all.deviation : 1;
      part.add(raw, scores);
    }
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    std::vector<double> raw(rows.rows);
    std::ranges::fill(scores, 0.0);
    for (const Part& part : parts_) {
      part.detector->score(rows, raw, work);
      part.add(raw, scores);
    }
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    std::vector<double> terms(row.size());
    std::ranges::fill(shares, 0.0);
    for (const Part& part : parts_) {
      part.detector->explain(row, terms);
      for (size_t i = 0; i < shares.size(); ++i) shares[i] += terms[i] / part.deviation / kParts;
    }
  }

  State state() const override {
    State state{{"columns", static_cast<double>(columns_)}};
    for (const Part& part : parts_) {
      put_part(state, part.name, part.detector->state());
      put_part(state, part.name, {{"mean", part.mean}, {"deviation", part.deviation}});
    }
    return state;
  }

  void restore(const State& state) override {
    columns_ = StateReader(state).count("columns", 1, kMostColumns);
    for (Part& part : parts_) {
      const State own = part_of(state, part.name);
      const StateReader reader(own);
      reader.count("columns", columns_, columns_);
      part.mean = reader.number("mean", {-kMostScore, kMostScore});
      part.deviation = reader.number("deviation", {std::numeric_limits<double>::denorm_min(), kMostScore});
      part.detector->restore(own);
    }
  }

 private:
  static constexpr double kParts = 3;

  struct Part {
    const char* name;
    std::unique_ptr<Detector> detector;
    double mean = 0;
    double deviation = 1;

    void add(std::span<const double> raw, std::span<double> scores) const {
      for (size_t i = 0; i < scores.size(); ++i) scores[i] += (raw[i] - mean) / deviation / kParts;
    }
  };

  size_t columns_ = 0;
  std::array<Part, 3> parts_;
};

}  // namespace

std::unique_ptr<Detector> make_suod() {
  return std::make_unique<Suod>();
}

}  // namespace quern::anomaly
