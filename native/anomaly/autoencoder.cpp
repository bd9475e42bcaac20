#include <algorithm>
#include <cmath>
#include <limits>

#include "../kernels/dense.hpp"
#include "detectors.hpp"
#include "explain.hpp"
#include "limits.hpp"
#include "network.hpp"
#include "state.hpp"

namespace quern::anomaly {
namespace {

/// Added to a deviation.
constexpr double kLeastDeviation = 1e-8;
/// Of a standardised number that enters the network: floats keep room for its sums.
constexpr double kMostInput = 1e15;
constexpr double kMostFloat = std::numeric_limits<float>::max();
constexpr size_t kGrain = 64;

/**
 * How badly a network that was trained to give rows back gives back this one: the Euclidean distance of the
 * standardised row to its answer (Hawkins, He, Williams and Baxter, "Outlier detection using replicator neural
 * networks", 2002).
 */
class Autoencoder final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    columns_ = rows.columns;
    standardise(rows);
    std::vector<float> table(rows.rows * padded<float>(columns_));
    fill(rows, 0, rows.rows, table.data());
    layers_ = train_network(table, rows.rows, columns_, {options.epochs, options.batch_size, options.seed}, work);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    const size_t width = padded<float>(columns_);
    work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
      std::vector<float> in((last - first) * width);
      fill(rows, first, last, in.data());
      const std::vector<float> out = network_answer(layers_, std::move(in), last - first);
      for (size_t i = first; i < last; ++i) {
        double sum = 0;
        for (size_t k = 0; k < columns_; ++k) {
          const double difference = standardised(rows.row(i)[k], k) - static_cast<double>(out[(i - first) * width + k]);
          sum += difference * difference;
        }
        scores[i] = std::sqrt(sum);
      }
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, mean_, shares);
  }

  State state() const override {
    State state{{"columns", static_cast<double>(columns_)}, {"mean", mean_}, {"deviation", deviation_}};
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      std::vector<double> weights;
      for (size_t input = 0; input < layer.inputs; ++input) {
        const auto line = layer.weights.begin() + static_cast<std::ptrdiff_t>(input * padded<float>(layer.outputs));
        weights.insert(weights.end(), line, line + static_cast<std::ptrdiff_t>(layer.outputs));
      }
      const std::string number = std::to_string(i);
      const auto end = static_cast<std::ptrdiff_t>(layer.outputs);
      state["weights" + number] = std::move(weights);
      state["scale" + number] = std::vector<double>(layer.scale.begin(), layer.scale.begin() + end);
      state["shift" + number] = std::vector<double>(layer.shift.begin(), layer.shift.begin() + end);
    }
    return state;
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    mean_ = reader.numbers("mean", columns_, {-kMostMagnitude, kMostMagnitude});
    deviation_ = reader.numbers("deviation", columns_, {kLeastDeviation, kMostMagnitude * 2});
    layers_.clear();
    const std::vector<size_t> widths = network_widths(columns_);
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      const std::string number = std::to_string(i);
      const Range floats{-kMostFloat, kMostFloat};
      const size_t outputs = widths[i + 1];
      const auto& weights = reader.numbers("weights" + number, widths[i] * outputs, floats);
      Layer layer{widths[i], outputs, std::vector<float>(widths[i] * padded<float>(outputs)),
                  as_floats(reader.numbers("scale" + number, outputs, floats)),
                  as_floats(reader.numbers("shift" + number, outputs, floats))};
      for (size_t at = 0; at < weights.size(); ++at)
        layer.weights[at / outputs * padded<float>(outputs) + at % outputs] = static_cast<float>(weights[at]);
      layers_.push_back(std::move(layer));
    }
  }

 private:
  static std::vector<float> as_floats(const std::vector<double>& values) {
    std::vector<float> floats(padded<float>(values.size()));
    std::ranges::transform(values, floats.begin(), [](double value) { return static_cast<float>(value); });
    return floats;
  }

  void standardise(const Matrix& rows) {
    // Counted from the first row, so that a constant column deviates by 0 and not by rounding.
    const auto first = rows.row(0);
    std::vector<double> sums(columns_), squares(columns_);
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns_; ++k) sums[k] += rows.row(i)[k] - first[k];
    const double count = static_cast<double>(rows.rows);
    mean_.resize(columns_);
    deviation_.resize(columns_);
    for (size_t k = 0; k < columns_; ++k) mean_[k] = first[k] + sums[k] / count;
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns_; ++k) {
        const double difference = rows.row(i)[k] - mean_[k];
        squares[k] += difference * difference;
      }
    for (size_t k = 0; k < columns_; ++k) deviation_[k] = std::sqrt(squares[k] / count) + kLeastDeviation;
  }

  double standardised(double value, size_t column) const { return (value - mean_[column]) / deviation_[column]; }

  void fill(const Matrix& rows, size_t first, size_t last, float* to) const {
    for (size_t i = first; i < last; ++i, to += padded<float>(columns_))
      for (size_t k = 0; k < columns_; ++k)
        to[k] = static_cast<float>(std::clamp(standardised(rows.row(i)[k], k), -kMostInput, kMostInput));
  }

  size_t columns_ = 0;
  std::vector<double> mean_;
  std::vector<double> deviation_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Detector> make_autoencoder() {
  return std::make_unique<Autoencoder>();
}

}  // namespace quern::anomaly
