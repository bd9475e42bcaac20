#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "anomaly/model.hpp"
#include "anomaly/registry.hpp"
#include "base/random.hpp"

namespace quern::anomaly {

/// Rows of normal numbers around two centres, and a few far away at the end.
inline std::vector<double> clusters(size_t rows, size_t columns, uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> values(rows * columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      values[row * columns + column] = random.normal() + (row % 2 == 0 ? 0 : 4) + (row + rows / 20 >= rows ? 9 : 0);
  return values;
}

inline ModelOptions options_of(std::string_view backend, size_t columns) {
  ModelOptions options{.backend = std::string(backend), .columns = columns, .fit = {}};
  options.fit.epochs = 3;
  return options;
}

inline std::vector<double> raw_scores(const FittedModel& model, std::vector<double> values, size_t threads = 1) {
  std::vector<double> raw(values.size() / model.columns());
  model.score(values, raw, Work(threads));
  return raw;
}

/// The rows of the specification's reference numbers.
inline const std::vector<double> kReference = {1,  2,    1.1, 2.1, .9,   1.9,  1.05, 2.2,  .95, 1.8, 1.2, 2.05,
                                               .8, 1.95, 1,   2.3, 1.15, 1.85, .85,  2.15, 1.3, 2.4, .7,  1.6};
inline const std::vector<double> kReferenceQuery = {1, 2, 1.5, 2.5, 100, 200, -5, 0};

}  // namespace quern::anomaly
