#include "explain.hpp"

#include "../base/failure.hpp"

namespace quern::anomaly {

std::vector<double> column_means(const Matrix& rows) {
  std::vector<double> means(rows.columns);
  for (size_t i = 0; i < rows.rows; ++i)
    for (size_t k = 0; k < rows.columns; ++k) means[k] += rows.values[i * rows.columns + k];
  for (double& mean : means) mean /= static_cast<double>(rows.rows);
  return means;
}

void explain_by_centre(const Detector& detector, std::span<const double> row, std::span<const double> centre,
                       std::span<double> shares) {
  require_columns(row.size(), centre.size());
  const size_t columns = row.size();
  const Work work(1);
  std::vector<double> changed(row.begin(), row.end());
  double whole = 0;
  detector.score({row.data(), 1, columns}, {&whole, 1}, work);
  for (size_t k = 0; k < columns; ++k) {
    changed[k] = centre[k];
    double score = 0;
    detector.score({changed.data(), 1, columns}, {&score, 1}, work);
    shares[k] = whole - score;
    changed[k] = row[k];
  }
}

void require_columns(size_t given, size_t fitted) {
  if (given != fitted)
    throw Failure("invalid", "A row has " + std::to_string(given) + " columns; the detector knows rows of " +
                                 std::to_string(fitted) + ".");
}

}  // namespace quern::anomaly
