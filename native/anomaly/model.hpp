#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "detector.hpp"
#include "normalizer.hpp"
#include "scaler.hpp"

namespace quern::anomaly {

/// A whole model as plain data.
struct SavedModel {
  std::string backend;
  std::string normalization;
  State entries;
};

struct ModelOptions {
  std::string backend;
  size_t columns;
  Normalization normalization = Normalization::kStandardization;
  bool scaled = true;
  FitOptions fit;
};

/// Throws Failure('invalid') with the setting that is wrong.
void check_options(const ModelOptions& options);
/// Throws Failure('invalid') naming row (counted from `first_row`) and column of what is not finite or too large in
/// whole rows.
void check_rows(std::span<const double> values, size_t columns, size_t first_row);

/// Scaler, detector and normaliser, fitted together. Only read afterwards, by any number of threads.
class FittedModel {
 public:
  /// `values` are checked rows. Throws what Detector::fit throws, Failure('bad_request') for fewer than 2 rows.
  static std::shared_ptr<const FittedModel> fit(const ModelOptions& options, std::vector<double> values,
                                                const Work& work);
  /// Throws Failure('invalid') naming the entry that no model has.
  static std::shared_ptr<const FittedModel> restore(const SavedModel& saved);

  const std::string& backend() const { return backend_; }
  size_t columns() const { return columns_; }
  const Normalizer& normalizer() const { return normalizer_; }
  /// What one row took to score when the model was made.
  std::chrono::nanoseconds row_time() const { return row_time_; }

  /// Checked rows in, scaled in place; one raw score each out.
  void score(std::span<double> values, std::span<double> raw, const Work& work) const;
  /// As Detector::explain for each of the checked rows: `columns` shares a row.
  std::vector<double> explain(std::span<double> values, const Work& work) const;
  SavedModel state() const;

 private:
  Matrix matrix(std::span<const double> values) const { return {values.data(), values.size() / columns_, columns_}; }

  void measure();

  std::string backend_;
  size_t columns_ = 0;
  RobustScaler scaler_;
  std::unique_ptr<Detector> detector_;
  Normalizer normalizer_;
  std::chrono::nanoseconds row_time_{};
};

}  // namespace quern::anomaly
