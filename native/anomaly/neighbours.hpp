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

  /// No offer beyond it is taken; infinity until there are k.
  double bound() const;
  void offer(Neighbour neighbour);
  std::span<const Neighbour> found() const { return room_.first(count_); }

 private:
  std::span<Neighbour> room_;
  size_t count_ = 0;
};

/**
 * Finds the nearest of fixed rows, exactly. Where more rows are as near as the k-th, which of them are found is left
 * open, but always the same for the same rows and query. Only read once made, by any number of threads.
 */
class Neighbours {
 public:
  /// Called with each query's number and its neighbours, nearest first, from several threads at once.
  using Each = std::function<void(size_t query, std::span<const Neighbour> found)>;

  virtual ~Neighbours() = default;
  /// `k` is at least 1; fewer are found where there are fewer rows.
  virtual void search(const Matrix& queries, size_t k, const Work& work, const Each& each) const = 0;
};

/// The rows' numbers are borrowed. A tree for few columns, a scan for many.
std::unique_ptr<Neighbours> make_neighbours(const Matrix& rows, const Work& work);

/// For few columns: boxes of boxes of rows, cut at medians of the widest column, 16 to a node.
std::unique_ptr<Neighbours> make_neighbour_tree(const Matrix& rows, const Work& work);
/// For many columns: products of all queries and rows in floats, which give bounds; within them the distances in
/// doubles.
std::unique_ptr<Neighbours> make_neighbour_scan(const Matrix& rows, const Work& work);

/// The squared distance of two rows. The order of its sum is fixed.
double square_between(const double* a, const double* b, size_t columns);

}  // namespace quern::anomaly
