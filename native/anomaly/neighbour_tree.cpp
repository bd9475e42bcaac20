#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "../kernels/dense.hpp"
#include "neighbours.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
/// Rows of a leaf.
constexpr size_t kLeaf = 2 * kLanes;
/// Queries that one thread answers at a time.
constexpr size_t kGrain = 256;
/// Of a distance to a box: what rounding may have added to it.
constexpr double kRounding = 1 - 1e-12;

/// What one thread needs for one query.
struct Query {
  const double* point;
  Nearest nearest;
};

class Tree final : public Neighbours {
 public:
  Tree(const Matrix& rows, const Work& work) : columns_(rows.columns), kernels_(dense_kernels<double>()) {
    order_.resize(rows.rows);
    std::iota(order_.begin(), order_.end(), 0u);
    root_ = add(rows, {0, rows.rows}, work);
  }

  void search(const Matrix& queries, size_t k, const Work& work, const Each& each) const override {
    // Queries near each other meet the same leaves, which are then in the cache.
    std::vector<std::pair<uint32_t, uint32_t>> turns(queries.rows);
    work.parallel(queries.rows, kGrain, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i)
        turns[i] = {leaf_near(queries.values + i * columns_), static_cast<uint32_t>(i)};
    });
    std::ranges::sort(turns);
    work.parallel(queries.rows, kGrain, [&](size_t first, size_t last) {
      std::vector<Neighbour> room(std::min(k, order_.size()));
      for (size_t i = first; i < last; ++i) {
        if (i % 32 == 0) work.check();
        Query query{queries.values + turns[i].second * columns_, Nearest(room)};
        visit(root_, query);
        each(turns[i].second, query.nearest.found());
      }
    });
  }

 private:
  struct Part {
    size_t first, last;
    size_t size() const { return last - first; }
  };
  /// A child is a leaf's first place in order_, or another node.
  struct Child {
    uint32_t at;
    bool leaf;
  };
  struct Node {
    std::array<Child, kLanes> children;
    size_t count;
  };

  /// Cuts a part at a multiple of the leaf's size, so that all leaves but one are full.
  size_t cut(const Matrix& rows, Part part) {
    size_t widest = 0;
    double width = -1;
    for (size_t column = 0; column < columns_; ++column) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (size_t i = part.first; i < part.last; ++i) {
        const double value = rows.values[order_[i] * columns_ + column];
        least = std::min(least, value);
        most = std::max(most, value);
      }
      if (most - least > width) {
        width = most - least;
        widest = column;
      }
    }
    const size_t leaves = (part.size() + kLeaf - 1) / kLeaf;
    const size_t middle = part.first + leaves / 2 * kLeaf;
    const auto at = [&](size_t place) { return order_.begin() + static_cast<std::ptrdiff_t>(place); };
    std::nth_element(at(part.first), at(middle), at(part.last), [&](uint32_t a, uint32_t b) {
      const double left = rows.values[a * columns_ + widest], right = rows.values[b * columns_ + widest];
      return left != right ? left < right : a < b;
    });
    return middle;
  }

  /// Adds the node of a part with all below it.
  uint32_t add(const Matrix& rows, Part part, const Work& work) {
    work.check();
    std::vector<Part> parts{part};
    for (bool more = true; more && parts.size() <= kLanes / 2;) {
      more = false;
      std::vector<Part> halves;
      for (const Part& one : parts) {
        if (one.size() <= kLeaf) {
          halves.push_back(one);
          continue;
        }
        const size_t middle = cut(rows, one);
        halves.push_back({one.first, middle});
        halves.push_back({middle, one.last});
        more = true;
      }
      parts = std::move(halves);
    }
    const uint32_t number = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({{}, parts.size()});
    boxes_.resize(nodes_.size() * 2 * columns_ * kLanes, std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < parts.size(); ++i) {
      bound(rows, parts[i], &boxes_[number * 2 * columns_ * kLanes + i]);
      const bool leaf = parts[i].size() <= kLeaf;
      if (leaf) add_leaf(rows, parts[i]);
      const uint32_t at = leaf ? static_cast<uint32_t>(parts[i].first) : add(rows, parts[i], work);
      nodes_[number].children[i] = {at, leaf};
    }
    return number;
  }

  void bound(const Matrix& rows, Part part, double* box) const {
    for (size_t column = 0; column < columns_; ++column, box += kLanes) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (size_t i = part.first; i < part.last; ++i) {
        const double value = rows.values[order_[i] * columns_ + column];
        least = std::min(least, value);
        most = std::max(most, value);
      }
      box[0] = least;
      box[columns_ * kLanes] = most;
    }
  }

  /// Places without a row are NaN, which no comparison lets in.
  void add_leaf(const Matrix& rows, Part part) {
    const size_t start = part.first * columns_;
    panels_.resize(std::max(panels_.size(), start + kLeaf * columns_), std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < part.size(); ++i) {
      double* to = &panels_[start + i / kLanes * kLanes * columns_ + i % kLanes];
      for (size_t column = 0; column < columns_; ++column)
        to[column * kLanes] = rows.values[order_[part.first + i] * columns_ + column];
    }
  }

  const double* box_of(uint32_t node) const { return &boxes_[node * 2 * columns_ * kLanes]; }

  /// Where a search for the point begins.
  uint32_t leaf_near(const double* point) const {
    double squares[kLanes];
    for (uint32_t at = root_;;) {
      const Node& node = nodes_[at];
      kernels_.box_distances(point, box_of(at), box_of(at) + columns_ * kLanes, columns_, squares);
      const Child& nearest =
          node.children[static_cast<size_t>(std::min_element(squares, squares + node.count) - squares)];
      if (nearest.leaf) return nearest.at;
      at = nearest.at;
    }
  }

  void visit(uint32_t at, Query& query) const {
    const Node& node = nodes_[at];
    double squares[kLanes];
    kernels_.box_distances(query.point, box_of(at), box_of(at) + columns_ * kLanes, columns_, squares);
    std::array<std::pair<double, uint32_t>, kLanes> turns;
    size_t count = 0;
    const double bound = query.nearest.bound();
    for (uint32_t i = 0; i < node.count; ++i) {
      const std::pair<double, uint32_t> turn{squares[i] * kRounding, i};
      if (turn.first >= bound) continue;
      size_t place = count++;
      for (; place > 0 && turn < turns[place - 1]; --place) turns[place] = turns[place - 1];
      turns[place] = turn;
    }
    for (size_t i = 0; i < count; ++i) {
      if (turns[i].first >= query.nearest.bound()) return;
      const Child& child = node.children[turns[i].second];
      if (child.leaf)
        scan(child.at, query);
      else
        visit(child.at, query);
    }
  }

  void scan(uint32_t leaf, Query& query) const {
    double squares[kLeaf];
    for (size_t panel = 0; panel < kLeaf; panel += kLanes)
      kernels_.distances({query.point, 0, 1}, 1, &panels_[(leaf + panel) * columns_], kLanes, columns_, squares + panel,
                         0);
    if (kernels_.count_within(squares, kLeaf / kLanes, query.nearest.bound()) == 0) return;
    for (size_t i = 0; i < kLeaf; ++i)
      if (squares[i] <= query.nearest.bound()) query.nearest.offer({squares[i], order_[leaf + i]});
  }

  const size_t columns_;
  const DenseKernels<double>& kernels_;
  std::vector<uint32_t> order_;  ///< rows, leaf by leaf
  std::vector<double> panels_;   ///< the leaves, as panels
  std::vector<Node> nodes_;
  std::vector<double> boxes_;  ///< per node a panel of least and one of greatest coordinates
  uint32_t root_ = 0;
};

}  // namespace

std::unique_ptr<Neighbours> make_neighbour_tree(const Matrix& rows, const Work& work) {
  return std::make_unique<Tree>(rows, work);
}

}  // namespace quern::anomaly
