#include "row_groups.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

/// Rows that tell in which column a part differs most.
constexpr size_t kSample = 128;
/// Rows that are worth a thread.
constexpr size_t kWorthwhile = 1 << 14;
/// Numbers of columns that are worth a thread.
constexpr size_t kNumbers = 1 << 16;
/// Boxes within one, whose distances are made together.
constexpr size_t kBoxes = kPanel<double>;

struct Part {
  size_t first, last;
  size_t size() const { return last - first; }
};

class Ordering {
 public:
  Ordering(const Matrix& rows, size_t group) : rows_(rows), group_(group), order_(rows.rows) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  std::vector<uint32_t> make(const Work& work) {
    std::vector<Part> parts{{0, rows_.rows}};
    // The last part has the most groups.
    while (parts.back().size() > group_) {
      std::vector<Part> halves(2 * parts.size());
      work.parallel(parts.size(), std::max<size_t>(1, kWorthwhile * parts.size() / rows_.rows),
                    [&](size_t first, size_t last) {
                      for (size_t i = first; i < last; ++i) {
                        const size_t middle = parts[i].size() > group_ ? cut(parts[i]) : parts[i].last;
                        halves[2 * i] = {parts[i].first, middle};
                        halves[2 * i + 1] = {middle, parts[i].last};
                      }
                    });
      std::erase_if(halves, [](const Part& part) { return part.size() == 0; });
      parts = std::move(halves);
    }
    return std::move(order_);
  }

 private:
  double value(size_t place, size_t column) const { return rows_.values[order_[place] * rows_.columns + column]; }

  size_t widest(Part part) const {
    const size_t step = (part.size() + kSample - 1) / kSample;
    std::vector<double> sums(rows_.columns), squares(rows_.columns);
    for (size_t place = part.first; place < part.last; place += step)
      for (size_t column = 0; column < rows_.columns; ++column) {
        const double difference = value(place, column) - value(part.first, column);
        sums[column] += difference;
        squares[column] += difference * difference;
      }
    const double count = static_cast<double>((part.size() + step - 1) / step);
    for (size_t column = 0; column < rows_.columns; ++column) squares[column] -= sums[column] * (sums[column] / count);
    return static_cast<size_t>(std::ranges::max_element(squares) - squares.begin());
  }

  /// Orders a part into two halves and gives where the second begins, a multiple of a group after the first.
  size_t cut(Part part) {
    const size_t column = widest(part);
    std::vector<std::pair<double, uint32_t>> keys(part.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = {value(part.first + i, column), order_[part.first + i]};
    const size_t half = (part.size() + group_ - 1) / group_ / 2 * group_;
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(half), keys.end());
    for (size_t i = 0; i < keys.size(); ++i) order_[part.first + i] = keys[i].second;
    return part.first + half;
  }

  const Matrix rows_;
  const size_t group_;
  std::vector<uint32_t> order_;
};

}  // namespace

std::vector<uint32_t> rows_in_groups(const Matrix& rows, size_t size, const Work& work) {
  return Ordering(rows, size).make(work);
}

GroupBoxes::GroupBoxes(const Matrix& rows, std::span<const uint32_t> order, size_t size, const Work& work)
    : columns_(rows.columns), margin_(rounding_margin(rows.columns)) {
  const size_t groups = (order.size() + size - 1) / size;
  add_level(groups);
  work.parallel(groups, kNumbers / (size * columns_), [&](size_t first, size_t last) {
    for (size_t group = first; group < last; ++group)
      for (const uint32_t row : order.subspan(group * size, std::min(size, order.size() - group * size)))
        grow(levels_[0], group, {row, rows.row(row).data(), rows.row(row).data(), 1});
  });
  while (levels_.back().first_rows.size() > kBoxes) {
    const size_t below = levels_.size() - 1, count = levels_[below].first_rows.size();
    add_level((count + kBoxes - 1) / kBoxes);
    for (size_t box = 0; box < count; ++box) {
      const double* const least = levels_[below].least(box, columns_);
      grow(levels_[below + 1], box / kBoxes,
           {levels_[below].first_rows[box], least, least + columns_ * kBoxes, kBoxes});
    }
  }
}

void GroupBoxes::add_level(size_t count) {
  // Comparisons with coordinates that are not there yet are false.
  levels_.push_back(
      {std::vector<uint32_t>(count, std::numeric_limits<uint32_t>::max()),
       std::vector<double>(padded<double>(count) * 2 * columns_, std::numeric_limits<double>::quiet_NaN())});
}

const double* GroupBoxes::Level::least(size_t box, size_t columns) const {
  return &panels[box / kBoxes * 2 * columns * kBoxes + box % kBoxes];
}

void GroupBoxes::grow(Level& level, size_t box, const Part& part) {
  double* const least = &level.panels[static_cast<size_t>(level.least(box, columns_) - level.panels.data())];
  double* const greatest = least + columns_ * kBoxes;
  for (size_t k = 0; k < columns_; ++k) {
    if (!(least[k * kBoxes] <= part.least[k * part.step])) least[k * kBoxes] = part.least[k * part.step];
    if (!(greatest[k * kBoxes] >= part.greatest[k * part.step])) greatest[k * kBoxes] = part.greatest[k * part.step];
  }
  level.first_rows[box] = std::min(level.first_rows[box], part.first_row);
}

void GroupBoxes::copy_box(size_t group, double* least, double* greatest) const {
  const double* const from = levels_[0].least(group, columns_);
  for (size_t k = 0; k < columns_; ++k) {
    least[k] = from[k * kBoxes];
    greatest[k] = from[(columns_ + k) * kBoxes];
  }
}

GroupWalk::GroupWalk(const GroupBoxes& boxes, const double* least, const double* greatest)
    : boxes_(boxes), least_(least), greatest_(greatest), middle_(boxes.columns_) {
  for (size_t k = 0; k < middle_.size(); ++k) middle_[k] = least[k] / 2 + greatest[k] / 2;
  open(boxes.levels_.size() - 1, 0, kEndless);
}

void GroupWalk::open(size_t level, size_t panel, Neighbour last) {
  const size_t columns = boxes_.columns_, first = panel * kBoxes;
  const GroupBoxes::Level& here = boxes_.levels_[level];
  const double* const least = here.least(first, columns);
  double squares[kBoxes], from_middle[kBoxes];
  const auto distances = dense_kernels<double>().box_distances;
  distances(least_, greatest_, least, least + columns * kBoxes, columns, squares);
  distances(middle_.data(), middle_.data(), least, least + columns * kBoxes, columns, from_middle);
  size_t groups = 1;
  for (size_t i = 0; i < level; ++i) groups *= kBoxes;
  for (size_t box = first; box < std::min(first + kBoxes, here.first_rows.size()); ++box) {
    const double square = boxes_.at_least(squares[box - first]);
    if (!(Neighbour{square, here.first_rows[box]} < last)) continue;
    ahead_.push_back({square, from_middle[box - first], box * groups, level, box});
    std::ranges::push_heap(ahead_, std::greater{});
  }
}

std::optional<size_t> GroupWalk::next(Neighbour last) {
  while (!ahead_.empty() && ahead_.front().square <= last.square) {
    const Ahead nearest = ahead_.front();
    std::ranges::pop_heap(ahead_, std::greater{});
    ahead_.pop_back();
    if (!(Neighbour{nearest.square, boxes_.levels_[nearest.level].first_rows[nearest.box]} < last)) continue;
    if (nearest.level == 0) return nearest.box;
    open(nearest.level - 1, nearest.box, last);
  }
  return std::nullopt;
}

}  // namespace quern::anomaly
