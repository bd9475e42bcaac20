#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// A fitted row as seen from a query. Nearer ones come first, of equally near ones the earlier row.
struct Neighbour {
  double square;  ///< squared Euclidean distance
  uint32_t row;

  auto operator<=>(const Neighbour&) const = default;
};

/// Comes after every row.
inline constexpr Neighbour kEndless{std::numeric_limits<double>::infinity(), std::numeric_limits<uint32_t>::max()};

/// Of a sum of squares in doubles: more than what rounding may have changed, in any order of the sum.
inline double rounding_margin(size_t columns) {
  return 1e-12 + static_cast<double>(columns) * 0x1p-52;
}

/**
 * The numbers of all rows, ordered so that every `size` of them, the last perhaps fewer, lie near each other: halved
 * where they differ most, again and again. Of equal rows the earlier ones come in earlier groups.
 */
std::vector<uint32_t> rows_in_groups(const Matrix& rows, size_t size, const Work& work);

/// The box around each group of rows_in_groups(), boxes around neighbouring boxes, and so on. Only read once made.
class GroupBoxes {
 public:
  GroupBoxes(const Matrix& rows, std::span<const uint32_t> order, size_t size, const Work& work);

  /// A squared distance of boxes without what rounding may have added to it.
  double at_least(double square) const {
    return std::max(0.0, square * (1 - margin_) - std::numeric_limits<double>::min());
  }
  /// The least number of a group's rows.
  uint32_t first_row(size_t group) const { return levels_[0].first_rows[group]; }
  /// Copies the least and greatest coordinates of a group.
  void copy_box(size_t group, double* least, double* greatest) const;

 private:
  friend class GroupWalk;

  struct Level {
    std::vector<uint32_t> first_rows;  ///< per box the number of the first row in it
    std::vector<double> panels;        ///< for every panel of boxes one of least and one of greatest coordinates

    /// The least coordinates of a box, a panel apart.
    const double* least(size_t box, size_t columns) const;
  };
  /// What a box takes in: a row, or another box.
  struct Part {
    uint32_t first_row;
    const double* least;
    const double* greatest;
    size_t step;
  };

  void add_level(size_t count);
  void grow(Level& level, size_t box, const Part& part);

  const size_t columns_;
  const double margin_;
  std::vector<Level> levels_;  ///< groups first
};

/// The groups in the order of their distance from a box, found as far as they are asked for.
class GroupWalk {
 public:
  /// All is borrowed; the box has its least and greatest coordinates.
  GroupWalk(const GroupBoxes& boxes, const double* least, const double* greatest);

  /// The next group that may have a row which comes before `last` for any point of the box.
  std::optional<size_t> next(Neighbour last);

 private:
  /// The nearest comes first, of equally near ones the one nearest to the middle, then the one with earlier groups.
  struct Ahead {
    double square;
    double from_middle;
    size_t first_group;
    size_t level;
    size_t box;

    auto operator<=>(const Ahead&) const = default;
  };

  void open(size_t level, size_t panel, Neighbour last);

  const GroupBoxes& boxes_;
  const double* const least_;
  const double* const greatest_;
  std::vector<double> middle_;
  std::vector<Ahead> ahead_;  ///< a heap
};

}  // namespace quern::anomaly
