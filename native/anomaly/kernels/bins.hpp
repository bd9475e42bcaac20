#pragma once

#include <cstddef>
#include <cstdint>

#include "../../base/cpu.hpp"

namespace quern {

/// Values that these kernels take at once; their numbers are multiples of it. NaN fills a part: no edge is below it.
inline constexpr size_t kBinLanes = 32;
/// Entries of a table of terms; at most one edge less than these.
inline constexpr size_t kMostBins = 16;

/// Histograms over columns of values, without a branch that depends on a value.
struct BinKernels {
  /// out = sum over k < `terms` of weights[k] * columns[k]; each column has `count` values.
  void (*project)(const double* const* columns, const double* weights, size_t terms, double* out, size_t count);
  /// Lowers `least` and raises `most` to what the values reach; NaN reaches nothing.
  void (*reach)(const double* values, size_t count, double& least, double& most);
  /// counts[e] += how many values are at least edges[e].
  void (*count_from)(const double* values, size_t count, const double* edges, size_t edge_count, uint64_t* counts);
  /// out += table[how many of the edges are less than the value]; the table has kMostBins terms.
  void (*add_terms)(const double* values, size_t count, const double* edges, size_t edge_count, const double* table,
                    double* out);
};

/// Kernels of one instruction set, which the processor must have.
const BinKernels& bin_kernels(Isa isa = best_isa());

}  // namespace quern
