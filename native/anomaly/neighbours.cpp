#include "neighbours.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLanes = kPanel<float>;
constexpr size_t kPoints = kPanel<double>;
/// Rows of a group, whole panels.
constexpr size_t kGroup = 8 * kLanes;
/// Queries that are compared with a group while it is in a near cache.
constexpr size_t kQueries = 256;
/// Queries far from each other are still answered together where boxes leave out little: one for so many squared
/// columns.
constexpr size_t kSquaredColumns = 32;
/// Of these, those whose products are made before anyone looks at them.
constexpr size_t kTogether = 32;
/// Bytes of a row that are asked for before it is looked at.
constexpr size_t kAhead = 256;
/// Numbers of columns that are worth a thread, or a look whether to go on.
constexpr size_t kWorthwhile = 1 << 17;
/// Lengths in a group's units whose squares floats still hold with room for sums.
constexpr float kMostLength = 0x1p40f;
/// More than what sums of the least floats lose.
constexpr double kLeastError = 1e-25;
/// Of a group's units, so that their squares are finite.
constexpr double kMostPower = 400;

}  // namespace

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
  Block(const Neighbours& rows, const double* points, std::span<const uint32_t> turns, size_t k, const Work& work)
      : rows_(rows),
        work_(work),
        points_(points),
        turns_(turns),
        panels_(padded<double>(turns.size()) * rows.rows_.columns),
        room_(turns.size() * k),
        table_(std::min(kTogether, turns.size()) * rows.depth_),
        low_(std::min(kTogether, turns.size()) * kGroup) {
    const size_t columns = rows_.rows_.columns;
    for (size_t query = 0; query < turns.size(); ++query) {
      nearest_.emplace_back(std::span(room_).subspan(query * k, k));
      double* const to = &panels_[query / kPoints * columns * kPoints + query % kPoints];
      for (size_t i = 0; i < columns; ++i) to[i * kPoints] = point(query)[i];
    }
  }

  /// Looks at the groups, nearest first, each together with the queries that may have neighbours in it.
  void find() {
    const size_t columns = rows_.rows_.columns;
    std::vector<double> least(point(0), point(0) + columns), greatest = least;
    for (size_t query = 1; query < turns_.size(); ++query)
      for (size_t i = 0; i < columns; ++i) {
        least[i] = std::min(least[i], point(query)[i]);
        greatest[i] = std::max(greatest[i], point(query)[i]);
      }
    GroupWalk walk(rows_.boxes_, least.data(), greatest.data());
    std::vector<double> box(2 * columns);
    for (Neighbour last = nearest_[0].last();;) {
      const std::optional<size_t> group = walk.next(last);
      if (!group) return;
      rows_.boxes_.copy_box(*group, box.data(), &box[columns]);
      ask(*group, box.data(), &box[columns]);
      for (size_t at = 0; at < asking_.size(); at += kTogether)
        compare(*group, std::span(asking_).subspan(at, std::min(kTogether, asking_.size() - at)));
      if (asking_.empty()) continue;
      last = nearest_[0].last();
      for (const Nearest& nearest : nearest_) last = std::max(last, nearest.last());
    }
  }

  std::span<const Neighbour> found(size_t query) const { return nearest_[query].found(); }

 private:
  std::span<const double> row(size_t group, size_t place) const {
    return rows_.rows_.row(rows_.order_[group * kGroup + place]);
  }
  const double* point(size_t query) const { return points_ + turns_[query] * rows_.rows_.columns; }

  /// Notes the queries that may have neighbours in a group with this box.
  void ask(size_t group, const double* least, const double* greatest) {
    const auto distances = dense_kernels<double>().box_distances;
    const size_t columns = rows_.rows_.columns;
    const uint32_t row = rows_.boxes_.first_row(group);
    asking_.clear();
    for (size_t first = 0; first < turns_.size(); first += kPoints) {
      const double* const points = &panels_[first * columns];
      double squares[kPoints];
      distances(least, greatest, points, points, columns, squares);
      for (size_t query = first; query < std::min(first + kPoints, turns_.size()); ++query)
        if (nearest_[query].takes({rows_.boxes_.at_least(squares[query - first]), row})) asking_.push_back(query);
    }
  }

  void compare(size_t group, std::span<const size_t> queries) {
    work_.check();
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
                        {rows_.panels(group) + panel * rows_.depth_ * kLanes, kLanes, rows_.depth_},
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
    const double low = (bound - square + (bound + square) * rows_.margin_) * (scale * scale / 2);
    return rounded_up(std::min(low, 0x1p100));
  }

  /// Before the query has k rows: a bound within which the group has k.
  float enough_bound(size_t query, size_t group, double square, const float* low) const {
    const size_t k = room_.size() / turns_.size();
    if (nearest_[query].bound() < kInfinity || k > kLanes || rows_.group_size(group) < kGroup) return 0x1p100f;
    // Of rows that have nothing in common: of each lane the least.
    float least[kLanes], line[kLanes], second[kLanes];
    kernels_.least_two(low, kGroup / kLanes, kLanes, least, line, second);
    std::nth_element(least, least + k - 1, least + kLanes);
    // Twice the error of the longest row, so that these are upper bounds; and what the distances are rounded by.
    const double length = std::sqrt(square) * rows_.scales_[group];
    const double rounding = (length + 2) * (length + 2) * rows_.margin_;
    return rounded_up(static_cast<double>(least[k - 1]) + 4 * rows_.error_ * (length + 1) + 3 * kLeastError + rounding);
  }

  static float rounded_up(double value) { return static_cast<float>(value + std::abs(value) * 0x1p-22 + kLeastError); }

  /// Takes a row by its true distance; false where it is too far.
  bool look(size_t query, size_t group, size_t place) {
    looked_at_ += rows_.rows_.columns;
    if (looked_at_ >= kWorthwhile) {
      looked_at_ = 0;
      work_.check();
    }
    const double square = square_between(point(query), row(group, place).data(), rows_.rows_.columns);
    const Neighbour one{square, rows_.order_[group * kGroup + place]};
    if (!nearest_[query].takes(one)) return false;
    nearest_[query].offer(one);
    return true;
  }

  const Neighbours& rows_;
  const DenseKernels<float>& kernels_ = dense_kernels<float>();
  const Work& work_;
  const double* points_;
  const std::span<const uint32_t> turns_;
  std::vector<double> panels_;  ///< the queries, kPoints at a time, column by column
  std::vector<Neighbour> room_;
  std::vector<Nearest> nearest_;
  std::vector<float> table_;
  std::vector<float> low_;
  std::vector<size_t> asking_;
  size_t looked_at_ = 0;  ///< numbers of columns since the last check
};

Neighbours::Neighbours(const Matrix& rows, const Work& work)
    : rows_(rows),
      depth_(rows.columns + 2),
      error_((static_cast<float>(rows.columns) + 10) * 0x1p-23f),
      margin_(rounding_margin(rows.columns)),
      order_(rows_in_groups(rows, kGroup, work)),
      boxes_(rows, order_, kGroup, work),
      scales_((rows.rows + kGroup - 1) / kGroup),
      centres_(groups() * rows.columns),
      // No bound is met by a row that is not there.
      panels_(padded<float>(rows.rows) * depth_, std::numeric_limits<float>::quiet_NaN()) {
  work.parallel(groups(), kWorthwhile / (kGroup * depth_), [&](size_t first, size_t last) {
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
  for (size_t i = 0; i < count; ++i) {
    const std::span<const double> row = rows_.row(members[i]);
    for (size_t k = 0; k < columns; ++k) centre[k] += row[k] / static_cast<double>(count);
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

size_t Neighbours::together(const Matrix& queries) const {
  const size_t dense = kGroup * queries.rows / rows_.rows;
  return std::clamp(std::max(dense, queries.columns * queries.columns / kSquaredColumns), size_t{1}, kQueries);
}

std::vector<uint32_t> Neighbours::turns(const Matrix& queries, size_t together, const Work& work) const {
  if (queries.rows == rows_.rows &&
      std::equal(queries.values, queries.values + queries.rows * queries.columns, rows_.values))
    return order_;
  return rows_in_groups(queries, together, work);
}

void Neighbours::search(const Matrix& queries, size_t k, const Work& work, const Each& each) const {
  k = std::min(k, rows_.rows);
  const size_t some = together(queries);
  const std::vector<uint32_t> order = turns(queries, some, work);
  work.parallel(queries.rows, some, [&](size_t first, size_t last) {
    const std::span<const uint32_t> asked = std::span(order).subspan(first, last - first);
    Block block(*this, queries.values, asked, k, work);
    block.find();
    for (size_t i = 0; i < asked.size(); ++i) each(asked[i], block.found(i));
  });
}

}  // namespace quern::anomaly
