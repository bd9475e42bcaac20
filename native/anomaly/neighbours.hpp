#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "detector.hpp"
#include "row_groups.hpp"

namespace quern::anomaly {

/// The k least of what it is offered.
class Nearest {
 public:
  /// `room` has k places.
  explicit Nearest(std::span<Neighbour> room) : room_(room) {}

  /// What an offer must come before; infinitely far until there are k.
  Neighbour last() const { return count_ == room_.size() ? room_.back() : kEndless; }
  /// The distance beyond which no offer is taken.
  double bound() const { return last().square; }
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
  /// How many queries are answered together: about those near one group, for their box should not be large.
  size_t together(const Matrix& queries) const;
  /// Queries near each other one after the other.
  std::vector<uint32_t> turns(const Matrix& queries, size_t together, const Work& work) const;

  const Matrix rows_;
  const size_t depth_;
  const float error_;
  const double margin_;
  const std::vector<uint32_t> order_;  ///< rows, group by group
  const GroupBoxes boxes_;
  std::vector<double> scales_;  ///< from the rows' unit to each group's, in which its longest row is about 1
  std::vector<double> centres_;
  std::vector<float> panels_;
};

}  // namespace quern::anomaly
