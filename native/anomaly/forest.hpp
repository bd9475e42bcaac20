#pragma once

#include <span>
#include <vector>

#include "../base/random.hpp"
#include "state.hpp"

namespace quern::anomaly {

/// The mean depth at which a random binary tree of `count` values ends: c(n) of Liu, Ting and Zhou 2008.
double mean_depth(size_t count);

/**
 * Random trees of one depth, all inner nodes of a tree in the order of a heap: the children of node i are 2i + 1 (value
 * <= threshold) and 2i + 2. A branch that ends early goes left to the bottom. So a tree has no links that could be
 * wrong, and every row takes the same number of steps, without a branch that the processor could mispredict.
 */
class Forest {
 public:
  /// Each tree from `sample` different rows.
  void fit(const Matrix& rows, size_t trees, size_t sample, uint64_t seed, const Work& work);
  /// Throws as StateReader does.
  void restore(const State& state, size_t columns);
  State state() const;

  /// The mean depth at which each row ends, over all trees.
  void depths(const Matrix& rows, std::span<double> depths, const Work& work) const;
  /// Rows that each tree was made from.
  size_t sample() const { return sample_; }

 private:
  struct Node {
    double threshold;
    uint32_t column;
  };
  class Planting;

  size_t inner() const { return (size_t{1} << levels_) - 1; }
  size_t ends() const { return size_t{1} << levels_; }
  void add_depths(const Matrix& rows, size_t first, size_t last, std::span<double> depths) const;

  size_t trees_ = 0;
  size_t levels_ = 0;
  size_t sample_ = 0;
  std::vector<Node> nodes_;    ///< inner() of each tree
  std::vector<double> depth_;  ///< ends() of each tree
};

}  // namespace quern::anomaly
