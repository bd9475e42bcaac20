#pragma once

#include <cstddef>

namespace quern::vectors {

/// How a search is answered.
enum class Plan { kScan, kGraph };

/// Rows up to which a scan is faster than the graph at recall@10 >= 0.99, for `dimensions` dimensions.
size_t default_scan_below(size_t dimensions);

/// Below this share of the rows a scan of the allowed ones beats a graph whose visits are mostly in vain.
constexpr double kScanShare = 0.15;

/// Bytes of rows and codes that one core compares in about a tenth of a millisecond.
constexpr size_t kBriefBytes = 400'000;

/// What the choice depends on.
struct Request {
  size_t live;      ///< rows that are there
  size_t allowed;   ///< of these at most so many pass the filter
  size_t in_graph;  ///< rows that the graph knows, 0 = no graph
  size_t k;
  bool exact;
};

Plan plan(const Request& request);

}  // namespace quern::vectors
