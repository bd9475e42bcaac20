#include "neighbours.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "../kernels/dense.hpp"
#include "row_groups.hpp"

namespace quern::anomaly {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLanes = kPanel<float>;
constexpr size_t kBoxes = kPanel<double>;
/// Rows of a group, whole panels.
constexpr size_t kGroup = 8 * kLanes;
/// Queries that are compared with a group while it is in a near cache.
constexpr size_t kQueries = 256;
/// Of these, those whose products are made before anyone looks at them.
constexpr size_t kTogether = 32;
/// Bytes of a row that are asked for before it is looked at.
constexpr size_t kAhead = 256;
/// Columns from which on no box leaves anything out, so that the order of queries does not matter.
constexpr size_t kManyColumns = 32;
/// Queries of one turn with the boxes.
constexpr size_t kGrain = 256;
/// Of a distance to a box: what rounding may have added to it.
constexpr double kRounding = 1 - 1e-12;
/// Lengths in a group's units whose squares floats still hold with room for sums.
constexpr float kMostLength = 0x1p40f;
/// More than what sums of the least floats lose.
constexpr double kLeastError = 1e-25;
/// Of a group's units, so that their squares are finite.
constexpr double kMostPower = 400;

/// What a distance to a box is at least, without what rounding may have added to it.
double at_least(double square) {
  return std::max(0.0, square * kRounding - std::numeric_limits<double>::min());
}

}  // namespace

double Nearest::bound() const {
  return count_ == room_.size() ? room_.back().square : kInfinity;
}

void Nearest::offer(Neighbour neighbour) {
  if (!takes(neighbour)) return;
  if (count_ < room_.size()) ++count_;
  size_t at = count_ - 1;
  for (; at > 0 && neighbour < room_[at - 1]; --at) room_[at] = room_[at - 1];
  room_[at] = neighbour;
}

/// Queries that are answered together.
class Neighbours::Block {
 public:
  Block(const Neighbours& rows, const double* points, std::span<const uint32_t> turns, size_t k)
      : rows_(rows),
        points_(points),
        turns_(turns),
        boxes_(turns.size() * rows.groups()),
        room_(turns.size() * k),
        table_(std::min(kTogether, turns.size()) * rows.depth_),
        low_(std::min(kTogether, turns.size()) * kGroup) {
    std::vector<double> squares(padded<double>(rows.groups()));
    for (size_t query = 0; query < turns.size(); ++query) {
      nearest_.emplace_back(std::span(room_).subspan(query * k, k));
      rows_.box_distances(point(query), squares.data());
      for (size_t group = 0; group < rows.groups(); ++group) box(group)[query] = at_least(squares[group]);
    }
  }

  /// Looks at the groups, nearest first, each together with the queries that may have neighbours in it.
  void find(const Work& work) {
    std::vector<std::pair<double, uint32_t>> order(rows_.groups());
    for (uint32_t group = 0; group < order.size(); ++group)
      order[group] = {*std::min_element(box(group), box(group) + turns_.size()), group};
    std::ranges::sort(order);
    for (const auto& [least, group] : order) {
      work.check();
      asking_.clear();
      double most = 0;
      for (size_t query = 0; query < turns_.size(); ++query) {
        const double bound = nearest_[query].bound();
        most = std::max(most, bound);
        // Of equal rows the earlier ones are in earlier groups, so that nothing is missed where both are 0.
        if (box(group)[query] < bound) asking_.push_back(query);
      }
      if (least >= most) return;
      for (size_t at = 0; at < asking_.size(); at += kTogether)
        compare(group, std::span(asking_).subspan(at, std::min(kTogether, asking_.size() - at)));
    }
  }

  std::span<const Neighbour> found(size_t query) const { return nearest_[query].found(); }

 private:
  std::span<const double> row(size_t group, size_t place) const {
    return rows_.rows_.row(rows_.order_[group * kGroup + place]);
  }
  double* box(size_t group) { return &boxes_[group * turns_.size()]; }
  const double* point(size_t query) const { return points_ + turns_[query] * rows_.rows_.columns; }

  void compare(size_t group, std::span<const size_t> queries) {
    const size_t columns = rows_.rows_.columns;
    const double scale = rows_.scales_[group];
    double squares[kTogether];
    for (size_t i = 0; i < queries.size(); ++i) {
      float* const line = &table_[i * rows_.depth_];
      squares[i] = offset_from(point(queries[i]), rows_.centre(group), columns, scale, line);
      line[columns] = 1;
      line[columns + 1] = static_cast<float>(-std::sqrt(squares[i]) * scale);
    }
    const size_t panels = (rows_.group_size(group) + kLanes - 1) / kLanes;
    for (size_t panel = 0; panel < panels; ++panel)
      kernels_.multiply({table_.data(), rows_.depth_, 1}, queries.size(),
                        rows_.panels(group) + panel * rows_.depth_ * kLanes, kLanes, rows_.depth_,
                        &low_[panel * kLanes], kGroup);
    for (size_t i = 0; i < queries.size(); ++i) {
      if (-table_[i * rows_.depth_ + columns + 1] <= kMostLength)
        take(queries[i], group, squares[i], &low_[i * kGroup], panels);
      else
        for (size_t place = 0; place < rows_.group_size(group); ++place) look(queries[i], group, place);
    }
  }

  /// Looks at the rows of a group whose lower bound is within what the query still takes; `square` is its squared
  /// distance from the centre.
  void take(size_t query, size_t group, double square, const float* low, size_t panels) {
    const float enough = enough_bound(query, group, square, low);
    float bound = std::min(enough, low_bound(query, group, square));
    uint32_t lanes[kGroup / kLanes];
    const size_t bytes = std::min(kAhead, rows_.rows_.columns * sizeof(double));
    lanes_within(low, panels, bound, lanes);
    for (size_t panel = 0; panel < panels; ++panel)
      for (uint32_t left = lanes[panel]; left != 0; left &= left - 1)
        prefetch(row(group, panel * kLanes + static_cast<size_t>(std::countr_zero(left))).data(), bytes);
    for (size_t panel = 0; panel < panels; ++panel)
      for (uint32_t left = lanes[panel]; left != 0; left &= left - 1) {
        const size_t place = panel * kLanes + static_cast<size_t>(std::countr_zero(left));
        if (low[place] <= bound && look(query, group, place)) bound = std::min(enough, low_bound(query, group, square));
      }
  }

  /// What the lower bounds of rows within the query's bound are at most, rounded up.
  float low_bound(size_t query, size_t group, double square) const {
    const double scale = rows_.scales_[group];
    const double bound = nearest_[query].bound();
    const double low = (bound - square + (bound + square) * 1e-12) * (scale * scale / 2);
    return rounded_up(std::min(low, 0x1p100));
  }

  /// Before the query has k rows: a bound within which the group has k.
  float enough_bound(size_t query, size_t group, double square, const float* low) const {
    const size_t k = room_.size() / turns_.size();
    if (nearest_[query].bound() < kInfinity || k > kLanes || rows_.group_size(group) < kGroup) return 0x1p100f;
    // Of rows that have nothing in common: of each lane the least.
    float least[kLanes];
    std::copy_n(low, kLanes, least);
    for (size_t first = kLanes; first < kGroup; first += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) least[lane] = std::min(least[lane], low[first + lane]);
    std::nth_element(least, least + k - 1, least + kLanes);
    // Twice the error of the longest row, so that these are upper bounds.
    const double length = std::sqrt(square) * rows_.scales_[group];
    return rounded_up(static_cast<double>(least[k - 1]) + 4 * rows_.error_ * (length + 1) + 3 * kLeastError);
  }

  static float rounded_up(double value) { return static_cast<float>(value + std::abs(value) * 0x1p-22 + kLeastError); }

  /// Takes a row by its true distance; false where it is too far.
  bool look(size_t query, size_t group, size_t place) {
    const double square = square_between(point(query), row(group, place).data(), rows_.rows_.columns);
    const Neighbour one{square, rows_.order_[group * kGroup + place]};
    if (!nearest_[query].takes(one)) return false;
    nearest_[query].offer(one);
    return true;
  }

  const Neighbours& rows_;
  const DenseKernels<float>& kernels_ = dense_kernels<float>();
  const double* points_;
  const std::span<const uint32_t> turns_;
  std::vector<double> boxes_;  ///< of each group to each query, at least
  std::vector<Neighbour> room_;
  std::vector<Nearest> nearest_;
  std::vector<float> table_;
  std::vector<float> low_;
  std::vector<size_t> asking_;
};

Neighbours::Neighbours(const Matrix& rows, const Work& work)
    : rows_(rows),
      depth_(rows.columns + 2),
      error_((static_cast<float>(rows.columns) + 10) * 0x1p-23f),
      order_(rows_in_groups(rows, kGroup, work)),
      scales_((rows.rows + kGroup - 1) / kGroup),
      centres_(groups() * rows.columns),
      // No point is near a box, or a row, that is not there.
      boxes_(padded<double>(groups()) * 2 * rows.columns, std::numeric_limits<double>::quiet_NaN()),
      panels_(padded<float>(rows.rows) * depth_, std::numeric_limits<float>::quiet_NaN()) {
  work.parallel(groups(), 16, [&](size_t first, size_t last) {
    for (size_t group = first; group < last; ++group) {
      fill_group(group);
      fill_panels(group);
    }
  });
}

size_t Neighbours::group_size(size_t group) const {
  return std::min(kGroup, rows_.rows - group * kGroup);
}

const float* Neighbours::panels(size_t group) const {
  return &panels_[group * kGroup * depth_];
}

void Neighbours::fill_group(size_t group) {
  const size_t count = group_size(group), columns = rows_.columns;
  const uint32_t* const members = &order_[group * kGroup];
  double* const centre = &centres_[group * columns];
  double* const least = &boxes_[group / kBoxes * 2 * columns * kBoxes + group % kBoxes];
  double* const greatest = least + columns * kBoxes;
  for (size_t i = 0; i < count; ++i) {
    const std::span<const double> row = rows_.row(members[i]);
    for (size_t k = 0; k < columns; ++k) {
      centre[k] += row[k] / static_cast<double>(count);
      if (!(least[k * kBoxes] <= row[k])) least[k * kBoxes] = row[k];
      if (!(greatest[k * kBoxes] >= row[k])) greatest[k * kBoxes] = row[k];
    }
  }
  double square = 0;
  for (size_t i = 0; i < count; ++i)
    square = std::max(square, square_between(rows_.row(members[i]).data(), centre, columns));
  const double power = square > 0 ? -std::round(std::log2(square) / 2) : 0;
  scales_[group] = std::exp2(std::clamp(power, -kMostPower, kMostPower));
}

/**
 * With q and x seen from the centre and h = |x|^2 / 2 - q * x the squared distance is |q|^2 + 2 h. Floats give h with
 * an error of at most c (|q| |x| + |x|^2 / 2), where c is a few units of rounding per column. Rows carry two more
 * columns, and queries their counterparts, so that the product is a lower bound of h.
 */
void Neighbours::fill_panels(size_t group) {
  const size_t columns = rows_.columns;
  const double scale = scales_[group];
  std::vector<float> line(columns);
  for (size_t i = 0; i < group_size(group); ++i) {
    const double* const row = rows_.row(order_[group * kGroup + i]).data();
    const double length = std::sqrt(offset_from(row, centre(group), columns, scale, line.data())) * scale;
    // Queries keep the sign, so that the product with a row is negative.
    float* const to = &panels_[group * kGroup * depth_ + i / kLanes * depth_ * kLanes + i % kLanes];
    for (size_t k = 0; k < columns; ++k) to[k * kLanes] = -line[k];
    to[columns * kLanes] = static_cast<float>(length * length / 2 * (1 - static_cast<double>(error_)) - kLeastError);
    to[(columns + 1) * kLanes] = static_cast<float>(static_cast<double>(error_) * length);
  }
}

void Neighbours::box_distances(const double* point, double* squares) const {
  const size_t columns = rows_.columns;
  for (size_t group = 0; group < groups(); group += kBoxes) {
    const double* const least = &boxes_[group * 2 * columns];
    dense_kernels<double>().box_distances(point, least, least + columns * kBoxes, columns, squares + group);
  }
}

std::vector<uint32_t> Neighbours::turns(const Matrix& queries, const Work& work) const {
  std::vector<uint32_t> turns(queries.rows);
  std::iota(turns.begin(), turns.end(), 0u);
  if (queries.rows <= kQueries || queries.columns >= kManyColumns) return turns;
  std::vector<uint32_t> near(queries.rows);
  work.parallel(queries.rows, kGrain, [&](size_t first, size_t last) {
    std::vector<double> squares(padded<double>(groups()));
    for (size_t i = first; i < last; ++i) {
      box_distances(queries.row(i).data(), squares.data());
      near[i] = static_cast<uint32_t>(
          std::min_element(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(groups())) - squares.begin());
    }
  });
  std::ranges::sort(turns, {}, [&](uint32_t i) { return std::pair(near[i], i); });
  return turns;
}

void Neighbours::search(const Matrix& queries, size_t k, const Work& work, const Each& each) const {
  k = std::min(k, rows_.rows);
  const std::vector<uint32_t> order = turns(queries, work);
  work.parallel(queries.rows, kQueries, [&](size_t first, size_t last) {
    const std::span<const uint32_t> some = std::span(order).subspan(first, last - first);
    Block block(*this, queries.values, some, k);
    block.find(work);
    for (size_t i = 0; i < some.size(); ++i) each(some[i], block.found(i));
  });
}

}  // namespace quern::anomaly
