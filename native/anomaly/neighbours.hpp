#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

/// The k least of what it is offered.
class Nearest {
 public:
  /// `room` has k places.
  explicit Nearest(std::span<Neighbour> room) : room_(room) {}

  /// The distance beyond which no offer is taken; infinity until there are k.
  double bound() const;
  bool takes(Neighbour neighbour) const { return count_ < room_.size() || neighbour < room_.back(); }
  void offer(Neighbour neighbour);
  std::span<const Neighbour> found() const { return room_.first(count_); }

 private:
  std::span<Neighbour> room_;
  size_t count_ = 0;
};

/**
 * Finds the nearest of fixed rows, exactly. Rows near each other make a group; products of queries and the rows of a
 * group in floats give bounds, and doubles the distances of the rows within them. Groups whose box is too far are left
 * out. Only read once made, by any number of threads.
 */
class Neighbours {
 public:
  /// Called with each query's number and its neighbours, nearest first, from several threads at once.
  using Each = std::function<void(size_t query, std::span<const Neighbour> found)>;

  /// The rows' numbers are borrowed.
  Neighbours(const Matrix& rows, const Work& work);

  /// `k` is at least 1; fewer are found where there are fewer rows.
  void search(const Matrix& queries, size_t k, const Work& work, const Each& each) const;

 private:
  class Block;

  size_t groups() const { return scales_.size(); }
  size_t group_size(size_t group) const;
  const double* centre(size_t group) const { return &centres_[group * rows_.columns]; }
  const float* panels(size_t group) const;
  void fill_group(size_t group);
  void fill_panels(size_t group);
  /// The squared distance of a point to the box around each group; `squares` has room for whole panels.
  void box_distances(const double* point, double* squares) const;
  /// Queries near each other one after the other.
  std::vector<uint32_t> turns(const Matrix& queries, const Work& work) const;

  const Matrix rows_;
  const size_t depth_;
  const float error_;
  std::vector<uint32_t> order_;  ///< rows, group by group
  std::vector<double> scales_;   ///< from the rows' unit to each group's, in which its longest row is about 1
  std::vector<double> centres_;
  std::vector<double> boxes_;  ///< for every kPanel<double> groups a panel of least and one of greatest coordinates
  std::vector<float> panels_;
};

}  // namespace quern::anomaly
