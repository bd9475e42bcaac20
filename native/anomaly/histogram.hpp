#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "../threads/work.hpp"
#include "blocks.hpp"

namespace quern::anomaly {

/// Bins of the histograms of HBOS and LODA, and edges between them.
inline constexpr size_t kBins = 10;
inline constexpr size_t kInnerEdges = kBins - 1;

/// What some numbers reach.
struct Reach {
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();
};

/// Bins of equal width, as NumPy's `histogram` makes them: each begins with its left edge, the last one holds its right
/// one too. A range of nothing is widened by half on both sides.
struct Histogram {
  std::array<double, kBins + 1> edges;
  std::array<uint64_t, kBins> counts;
};

/**
 * Histograms of `count` features of all rows. `features(block, feature, room)` gives a feature's values of a block's
 * rows (block.padded() of them), which may lie in `room`.
 */
template <typename Features>
std::vector<Histogram> histograms(const Matrix& rows, size_t count, const Work& work, Features features);

/// The edges of kBins bins.
std::array<double, kBins + 1> edges_of(Reach reach);
/// How many of `all` values lie in each bin, when `from[e]` are at or beyond inner edge e.
std::array<uint64_t, kBins> counts_of(const uint64_t* from, uint64_t all);

template <typename Features>
std::vector<Histogram> histograms(const Matrix& rows, size_t count, const Work& work, Features features) {
  const BinKernels& kernels = bin_kernels();
  std::mutex mutex;
  // Twice over the rows, each part with numbers of its own, which are put together when it is done.
  std::vector<Reach> reach(count);
  work.parallel(rows.rows, kBlockGrain, [&](size_t first, size_t last) {
    std::vector<Reach> here(count);
    double room[ColumnBlock::kMostRows];
    each_block(rows, first, last, [&](const ColumnBlock& block) {
      for (size_t i = 0; i < count; ++i)
        kernels.reach(features(block, i, room), block.padded(), here[i].least, here[i].most);
    });
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < count; ++i)
      reach[i] = {std::min(reach[i].least, here[i].least), std::max(reach[i].most, here[i].most)};
  });
  std::vector<Histogram> all(count);
  for (size_t i = 0; i < count; ++i) all[i].edges = edges_of(reach[i]);
  std::vector<uint64_t> from(count * kInnerEdges);
  work.parallel(rows.rows, kBlockGrain, [&](size_t first, size_t last) {
    std::vector<uint64_t> here(from.size());
    double room[ColumnBlock::kMostRows];
    each_block(rows, first, last, [&](const ColumnBlock& block) {
      for (size_t i = 0; i < count; ++i)
        kernels.count_from(features(block, i, room), block.padded(), &all[i].edges[1], kInnerEdges,
                           &here[i * kInnerEdges]);
    });
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < from.size(); ++i) from[i] += here[i];
  });
  for (size_t i = 0; i < count; ++i) all[i].counts = counts_of(&from[i * kInnerEdges], rows.rows);
  return all;
}

}  // namespace quern::anomaly
