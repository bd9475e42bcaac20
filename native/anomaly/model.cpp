#include "model.hpp"

#include <algorithm>
#include <cmath>

#include "../base/failure.hpp"
#include "limits.hpp"
#include "registry.hpp"

namespace quern::anomaly {
namespace {

/// Of the layout of a state; another number means that an older or newer program wrote it.
constexpr double kVersion = 1;
/// Rows that one thread explains before it looks whether to stop.
constexpr size_t kExplainGrain = 4;

/// What a detector computes from rows at the edge of numbers must not reach a normaliser or a reader of JSON.
void bound(std::span<double> raw) {
  for (double& score : raw) score = std::isnan(score) ? kMostScore : std::clamp(score, -kMostScore, kMostScore);
}

}  // namespace

void check_options(const ModelOptions& options) {
  make_detector(options.backend);
  if (options.columns < 1 || options.columns > kMostColumns)
    throw Failure("invalid", "columns is " + std::to_string(options.columns) + "; allowed is 1 to " +
                                 std::to_string(kMostColumns) + ".");
  const double share = options.fit.contamination;
  if (!(share > 0 && share <= 0.5))
    throw Failure("invalid", "contamination is " + std::to_string(share) + "; allowed is above 0, at most 0.5.");
}

void check_rows(std::span<const double> values, size_t columns, size_t first_row) {
  const auto is_wrong = [](double value) { return !(std::abs(value) <= kMostMagnitude); };
  // Counting needs no branch a number.
  size_t found = 0;
  for (const double value : values) found += is_wrong(value) ? 1 : 0;
  if (found == 0) return;
  const auto wrong = std::ranges::find_if(values, is_wrong);
  const size_t at = static_cast<size_t>(wrong - values.begin());
  const char* const what = std::isnan(*wrong)   ? "NaN"
                           : std::isinf(*wrong) ? (*wrong > 0 ? "Infinity" : "-Infinity")
                                                : "beyond 1e100";
  throw Failure("invalid", "Row " + std::to_string(first_row + at / columns) + ", column " +
                               std::to_string(at % columns) + " (both counted from 0) is " + what +
                               "; allowed are finite numbers from -1e100 to 1e100.");
}

std::shared_ptr<const FittedModel> FittedModel::fit(const ModelOptions& options, std::vector<double> values,
                                                    const Work& work) {
  check_options(options);
  auto model = std::make_shared<FittedModel>();
  model->backend_ = options.backend;
  model->columns_ = options.columns;
  const Matrix rows = model->matrix(values);
  if (rows.rows < 2)
    throw Failure("bad_request", "A fit needs at least 2 rows; given are " + std::to_string(rows.rows) + ".");
  model->scaler_ = options.scaled ? RobustScaler::fit(rows, work) : RobustScaler::none(options.columns);
  model->scaler_.apply(values, work);
  model->detector_ = make_detector(options.backend);
  std::vector<double> raw(rows.rows);
  model->detector_->fit_and_score(rows, options.fit, raw, work);
  bound(raw);
  model->normalizer_ = Normalizer::fit(options.normalization, raw, options.fit.contamination);
  model->measure();
  return model;
}

void FittedModel::measure() {
  using Clock = std::chrono::steady_clock;
  // The first may have to fetch the model from slow memory, and any may be interrupted: the best counts.
  constexpr int kRounds = 4;
  row_time_ = std::chrono::nanoseconds::max();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> row(columns_);
    double raw = 0;
    const Clock::time_point began = Clock::now();
    score(row, {&raw, 1}, Work(1));
    row_time_ = std::min<std::chrono::nanoseconds>(row_time_, Clock::now() - began);
  }
}

void FittedModel::score(std::span<double> values, std::span<double> raw, const Work& work) const {
  scaler_.apply(values, work);
  detector_->score(matrix(values), raw, work);
  bound(raw);
}

std::vector<double> FittedModel::explain(std::span<double> values, const Work& work) const {
  scaler_.apply(values, work);
  const Matrix rows = matrix(values);
  std::vector<double> shares(values.size());
  work.parallel(rows.rows, kExplainGrain, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; ++row)
      detector_->explain(rows.row(row), std::span(shares).subspan(row * columns_, columns_));
  });
  bound(shares);
  return shares;
}

SavedModel FittedModel::state() const {
  SavedModel saved{backend_, std::string(name_of(normalizer_.normalization())), {}};
  saved.entries["version"] = kVersion;
  saved.entries["columns"] = static_cast<double>(columns_);
  put_part(saved.entries, "scaler", scaler_.state());
  put_part(saved.entries, "normalizer", normalizer_.state());
  put_part(saved.entries, "detector", detector_->state());
  return saved;
}

std::shared_ptr<const FittedModel> FittedModel::restore(const SavedModel& saved) {
  const StateReader reader(saved.entries);
  if (reader.number("version") != kVersion) refuse_entry("version", "is not 1, the only one known");
  auto model = std::make_shared<FittedModel>();
  model->backend_ = saved.backend;
  model->detector_ = make_detector(saved.backend);
  model->columns_ = reader.count("columns", 1, kMostColumns);
  model->scaler_ = RobustScaler::restore(part_of(saved.entries, "scaler"), model->columns_);
  model->normalizer_ = Normalizer::restore(normalization_of(saved.normalization), part_of(saved.entries, "normalizer"));
  const State part = part_of(saved.entries, "detector");
  StateReader(part).count("columns", model->columns_, model->columns_);
  model->detector_->restore(part);
  model->measure();
  return model;
}

}  // namespace quern::anomaly
