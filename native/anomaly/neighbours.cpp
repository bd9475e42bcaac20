#include "neighbours.hpp"

#include <algorithm>
#include <limits>

namespace quern::anomaly {
namespace {

/// Columns from which on a tree meets most of its rows.
constexpr size_t kScanColumns = 16;

}  // namespace

double Nearest::bound() const {
  return count_ == room_.size() ? room_.back().square : std::numeric_limits<double>::infinity();
}

void Nearest::offer(Neighbour neighbour) {
  if (count_ < room_.size())
    ++count_;
  else if (!(neighbour < room_.back()))
    return;
  size_t at = count_ - 1;
  for (; at > 0 && neighbour < room_[at - 1]; --at) room_[at] = room_[at - 1];
  room_[at] = neighbour;
}

std::unique_ptr<Neighbours> make_neighbours(const Matrix& rows, const Work& work) {
  return rows.columns < kScanColumns ? make_neighbour_tree(rows, work) : make_neighbour_scan(rows, work);
}

double square_between(const double* a, const double* b, size_t columns) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  size_t k = 0;
  for (; k + kLanes <= columns; k += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double difference = a[k + lane] - b[k + lane];
      lanes[lane] += difference * difference;
    }
  for (size_t lane = 0; k < columns; ++k, ++lane) lanes[lane] += (a[k] - b[k]) * (a[k] - b[k]);
  for (size_t width = kLanes / 2; width > 0; width /= 2)
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

}  // namespace quern::anomaly
