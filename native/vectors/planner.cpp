#include "planner.hpp"

#include <algorithm>

namespace quern::vectors {
namespace {

/// Components that one core compares in the time of a graph search.
constexpr size_t kScanComponents = 600'000;
constexpr size_t kLeastRows = 1'500;
/// A graph that must return more than this share of the rows visits all of them anyway, and slower.
constexpr double kMostWanted = 0.05;

}  // namespace

size_t default_scan_below(size_t dimensions) {
  return std::max(kLeastRows, kScanComponents / std::max<size_t>(1, dimensions));
}

Plan plan(const Request& request) {
  if (request.exact || request.in_graph == 0) return Plan::kScan;
  const auto live = static_cast<double>(request.live);
  if (static_cast<double>(request.allowed) < kScanShare * live) return Plan::kScan;
  if (static_cast<double>(request.k) > kMostWanted * static_cast<double>(request.allowed)) return Plan::kScan;
  return Plan::kGraph;
}

}  // namespace quern::vectors
