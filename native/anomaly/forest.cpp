#include "forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "limits.hpp"

namespace quern::anomaly {
namespace {

/// No value is greater: everything goes left.
constexpr double kAlwaysLeft = std::numeric_limits<double>::max();
constexpr size_t kMostTrees = 10'000;
constexpr size_t kMostLevels = 16;
/// Rows that walk down a tree side by side, so that their steps overlap.
constexpr size_t kLanes = 8;
/// Numbers of the rows that stay in the cache while all trees pass.
constexpr size_t kBlockNumbers = 4096;

/// `count` different numbers below `all`, by Floyd's method (Bentley and Floyd 1987).
std::vector<uint32_t> choose(Random& random, size_t count, size_t all) {
  std::vector<uint32_t> chosen;
  chosen.reserve(count);
  for (size_t most = all - count; most < all; ++most) {
    const uint32_t drawn = random.below(most + 1);
    const bool there = std::ranges::find(chosen, drawn) != chosen.end();
    chosen.push_back(there ? static_cast<uint32_t>(most) : drawn);
  }
  return chosen;
}

}  // namespace

double mean_depth(size_t count) {
  if (count <= 1) return 0;
  if (count == 2) return 1;
  const double n = static_cast<double>(count);
  return 2 * (std::log(n - 1) + std::numbers::egamma) - 2 * (n - 1) / n;
}

/// One tree while it grows.
class Forest::Planting {
 public:
  Planting(const Matrix& rows, Random random, std::vector<uint32_t> sample, size_t levels, std::span<Node> nodes,
           std::span<double> depths)
      : rows_(rows),
        random_(random),
        sample_(std::move(sample)),
        columns_(rows.columns),
        levels_(levels),
        nodes_(nodes),
        depths_(depths) {
    std::iota(columns_.begin(), columns_.end(), 0u);
  }

  void grow() { grow(0, 0, sample_); }

 private:
  void grow(size_t node, size_t level, std::span<uint32_t> here) {
    if (level == levels_ || here.size() <= 1 || !split(nodes_[node], here)) {
      const size_t leftmost = (node + 1) << (levels_ - level);
      depths_[leftmost - depths_.size()] = static_cast<double>(level) + mean_depth(here.size());
      return;
    }
    const Node chosen = nodes_[node];
    const auto right = std::partition(here.begin(), here.end(),
                                      [&](uint32_t row) { return value(row, chosen.column) <= chosen.threshold; });
    const size_t left = static_cast<size_t>(right - here.begin());
    grow(2 * node + 1, level + 1, here.first(left));
    grow(2 * node + 2, level + 1, here.subspan(left));
  }

  /// A column that is not constant here, each as likely, and a place between its least and greatest value.
  bool split(Node& node, std::span<const uint32_t> here) {
    for (size_t tried = 0; tried < columns_.size(); ++tried) {
      std::swap(columns_[tried], columns_[tried + random_.below(columns_.size() - tried)]);
      const uint32_t column = columns_[tried];
      double least = value(here.front(), column);
      double most = least;
      for (const uint32_t row : here) {
        least = std::min(least, value(row, column));
        most = std::max(most, value(row, column));
      }
      if (!(least < most)) continue;
      const double drawn = least + random_.uniform() * (most - least);
      // Rounding must not send all to one side.
      node = {drawn < most ? drawn : least, column};
      return true;
    }
    return false;
  }

  double value(uint32_t row, uint32_t column) const { return rows_.values[row * rows_.columns + column]; }

  const Matrix& rows_;
  Random random_;
  std::vector<uint32_t> sample_;
  std::vector<uint32_t> columns_;  ///< all of them; those in front were tried last
  const size_t levels_;
  const std::span<Node> nodes_;
  const std::span<double> depths_;
};

void Forest::fit(const Matrix& rows, size_t trees, size_t sample, uint64_t seed, const Work& work) {
  trees_ = trees;
  sample_ = std::min(sample, rows.rows);
  levels_ = static_cast<size_t>(std::bit_width(sample_ - 1));
  nodes_.assign(trees * inner(), {kAlwaysLeft, 0});
  depth_.assign(trees * ends(), 0);
  work.parallel(trees, 1, [&](size_t first, size_t last) {
    for (size_t tree = first; tree < last; ++tree) {
      Random random(seed, tree);
      std::vector<uint32_t> chosen = choose(random, sample_, rows.rows);
      Planting(rows, random, std::move(chosen), levels_, std::span(nodes_).subspan(tree * inner(), inner()),
               std::span(depth_).subspan(tree * ends(), ends()))
          .grow();
    }
  });
}

void Forest::add_depths(const Matrix& rows, size_t first, size_t last, std::span<double> depths) const {
  for (size_t tree = 0; tree < trees_; ++tree) {
    const Node* const nodes = nodes_.data() + tree * inner();
    const double* const ends_here = depth_.data() + tree * ends();
    for (size_t at = first; at < last; at += kLanes) {
      const size_t lanes = std::min(kLanes, last - at);
      const double* row[kLanes];
      size_t node[kLanes] = {};
      // Lanes beyond the last row repeat it.
      for (size_t lane = 0; lane < kLanes; ++lane)
        row[lane] = rows.values + (at + std::min(lane, lanes - 1)) * rows.columns;
      for (size_t level = 0; level < levels_; ++level)
        for (size_t lane = 0; lane < kLanes; ++lane) {
          const Node& here = nodes[node[lane]];
          node[lane] = 2 * node[lane] + 1 + (row[lane][here.column] > here.threshold ? 1 : 0);
        }
      for (size_t lane = 0; lane < lanes; ++lane) depths[at + lane] += ends_here[node[lane] - inner()];
    }
  }
}

void Forest::depths(const Matrix& rows, std::span<double> depths, const Work& work) const {
  const size_t block = std::clamp(kBlockNumbers / rows.columns / kLanes * kLanes, kLanes, size_t{256});
  work.parallel(rows.rows, block, [&](size_t first, size_t last) {
    std::fill(depths.begin() + static_cast<std::ptrdiff_t>(first), depths.begin() + static_cast<std::ptrdiff_t>(last),
              0.0);
    add_depths(rows, first, last, depths);
    for (size_t i = first; i < last; ++i) depths[i] /= static_cast<double>(trees_);
  });
}

State Forest::state() const {
  std::vector<int32_t> columns;
  std::vector<double> thresholds;
  for (const Node& node : nodes_) {
    columns.push_back(static_cast<int32_t>(node.column));
    thresholds.push_back(node.threshold);
  }
  return {{"trees", static_cast<double>(trees_)},   {"levels", static_cast<double>(levels_)},
          {"sample", static_cast<double>(sample_)}, {"column", std::move(columns)},
          {"threshold", std::move(thresholds)},     {"depth", depth_}};
}

void Forest::restore(const State& state, size_t columns) {
  const StateReader reader(state);
  trees_ = reader.count("trees", 1, kMostTrees);
  levels_ = reader.count("levels", 1, kMostLevels);
  sample_ = reader.count("sample", 2, ends());
  const auto& column = reader.integers("column", trees_ * inner(), 0, static_cast<int32_t>(columns - 1));
  const auto& threshold = reader.numbers("threshold", trees_ * inner());
  depth_ = reader.numbers("depth", trees_ * ends(), {0, kMostMagnitude});
  nodes_.resize(column.size());
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = {threshold[i], static_cast<uint32_t>(column[i])};
}

}  // namespace quern::anomaly
