#include "row_groups.hpp"

#include <algorithm>
#include <numeric>

namespace quern::anomaly {
namespace {

/// Rows that tell in which column a part differs most.
constexpr size_t kSample = 128;
/// Rows that are worth a thread.
constexpr size_t kWorthwhile = 1 << 14;

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

}  // namespace quern::anomaly
