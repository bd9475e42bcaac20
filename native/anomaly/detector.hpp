#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "../threads/work.hpp"

namespace quern::anomaly {

/// Rows of finite numbers, one after the other. Borrowed.
struct Matrix {
  const double* values;
  size_t rows;
  size_t columns;

  std::span<const double> row(size_t index) const { return {values + index * columns, columns}; }
};

/// What the caller may choose; a detector ignores what does not concern it.
struct FitOptions {
  double contamination = 0.1;  ///< expected share of anomalies, (0, 0.5]
  uint32_t epochs = 100;       ///< autoencoder
  uint32_t batch_size = 32;    ///< autoencoder
  uint64_t seed = 42;
};

/// The state of a fitted model as plain data: what another process, also one in Python, can read without our code.
using Plain = std::variant<double, std::vector<double>, std::vector<int32_t>>;
using State = std::map<std::string, Plain>;

/**
 * One backend. Fitted once, then only read, by any number of threads. All scores are raw scores: higher is more
 * anomalous. A row's score depends on the fitted state and that row alone, never on the rows beside it.
 */
class Detector {
 public:
  virtual ~Detector() = default;

  /// At least 2 rows and 1 column. Deterministic by `options.seed`, whatever the number of threads.
  /// Throws Failure('bad_request') for rows that this backend cannot learn from, ('unavailable') when stopped.
  virtual void fit(const Matrix& rows, const FitOptions& options, const Work& work) = 0;

  /// One raw score per row into `scores`; the columns are those of the fit.
  virtual void score(const Matrix& rows, std::span<double> scores, const Work& work) const = 0;

  /// A fit with the raw scores of its rows, as score() gives them to the bit; a detector overrides it that knows them
  /// anyway.
  virtual void fit_and_score(const Matrix& rows, const FitOptions& options, std::span<double> scores,
                             const Work& work) {
    fit(rows, options, work);
    score(rows, scores, work);
  }

  /**
   * What each column adds to the raw score of one row, into `shares` (one per column). Where the score is a sum over
   * columns these are its terms; elsewhere the change of the score when the column takes its value of the fitted
   * centre.
   */
  virtual void explain(std::span<const double> row, std::span<double> shares) const = 0;

  /// Everything that score() needs, with the same bits after restore(); its entry `columns` is checked against the
  /// model's.
  virtual State state() const = 0;
  /// Throws Failure('invalid') naming the entry that is missing or of the wrong kind or length. Never trusts a number
  /// in it.
  virtual void restore(const State& state) = 0;
};

}  // namespace quern::anomaly
