#include "bins.hpp"

#ifdef QUERN_X86
#include <immintrin.h>
#endif

// GCC 12 takes the "undefined" registers of its own intrinsics for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define QUERN_INLINE inline __attribute__((always_inline))

namespace quern {
namespace {

// Loops over the lanes are vectors of whatever width the set that they are compiled for has.

QUERN_INLINE void project_lanes(const double* const* columns, const double* weights, size_t terms, double* out,
                                size_t count) {
  for (size_t at = 0; at < count; at += kBinLanes) {
    double sums[kBinLanes] = {};
    for (size_t k = 0; k < terms; ++k)
      for (size_t lane = 0; lane < kBinLanes; ++lane) sums[lane] += weights[k] * columns[k][at + lane];
    for (size_t lane = 0; lane < kBinLanes; ++lane) out[at + lane] = sums[lane];
  }
}

QUERN_INLINE void reach_lanes(const double* values, size_t count, double& least, double& most) {
  double low[kBinLanes], high[kBinLanes];
  for (size_t lane = 0; lane < kBinLanes; ++lane) low[lane] = least, high[lane] = most;
  for (size_t at = 0; at < count; at += kBinLanes)
    for (size_t lane = 0; lane < kBinLanes; ++lane) {
      const double value = values[at + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  for (size_t lane = 0; lane < kBinLanes; ++lane) {
    least = low[lane] < least ? low[lane] : least;
    most = high[lane] > most ? high[lane] : most;
  }
}

QUERN_INLINE void count_lanes(const double* values, size_t count, const double* edges, size_t edge_count,
                              uint64_t* counts) {
  for (size_t e = 0; e < edge_count; ++e) {
    const double edge = edges[e];
    uint64_t found = 0;
    for (size_t i = 0; i < count; ++i) found += values[i] >= edge ? 1 : 0;
    counts[e] += found;
  }
}

QUERN_INLINE void add_lanes(const double* values, size_t count, const double* edges, size_t edge_count,
                            const double* table, double* out) {
  for (size_t at = 0; at < count; at += kBinLanes) {
    uint64_t bins[kBinLanes] = {};
    for (size_t e = 0; e < edge_count; ++e)
      for (size_t lane = 0; lane < kBinLanes; ++lane) bins[lane] += values[at + lane] > edges[e] ? 1 : 0;
    for (size_t lane = 0; lane < kBinLanes; ++lane) out[at + lane] += table[bins[lane]];
  }
}

#define QUERN_BIN_SET(name, target)                                                                          \
  target void name##_project(const double* const* columns, const double* weights, size_t terms, double* out, \
                             size_t count) {                                                                 \
    project_lanes(columns, weights, terms, out, count);                                                      \
  }                                                                                                          \
  target void name##_reach(const double* values, size_t count, double& least, double& most) {                \
    reach_lanes(values, count, least, most);                                                                 \
  }                                                                                                          \
  target void name##_count(const double* values, size_t count, const double* edges, size_t edge_count,       \
                           uint64_t* counts) {                                                               \
    count_lanes(values, count, edges, edge_count, counts);                                                   \
  }                                                                                                          \
  target void name##_add(const double* values, size_t count, const double* edges, size_t edge_count,         \
                         const double* table, double* out) {                                                 \
    add_lanes(values, count, edges, edge_count, table, out);                                                 \
  }                                                                                                          \
  constexpr BinKernels name##_kernels = {name##_project, name##_reach, name##_count, name##_add};

QUERN_BIN_SET(portable, )
#ifdef QUERN_X86
QUERN_BIN_SET(avx2, QUERN_AVX2)

/// Four vectors of eight values; sums, extremes, bins and terms stay in registers.
constexpr size_t kVectors = 4;

QUERN_AVX512 void avx512_project(const double* const* columns, const double* weights, size_t terms, double* out,
                                 size_t count) {
  for (size_t at = 0; at < count; at += kBinLanes) {
    __m512d a = _mm512_setzero_pd(), b = a, c = a, d = a;
    for (size_t k = 0; k < terms; ++k) {
      const __m512d weight = _mm512_set1_pd(weights[k]);
      const double* const from = columns[k] + at;
      a = _mm512_fmadd_pd(weight, _mm512_loadu_pd(from), a);
      b = _mm512_fmadd_pd(weight, _mm512_loadu_pd(from + 8), b);
      c = _mm512_fmadd_pd(weight, _mm512_loadu_pd(from + 16), c);
      d = _mm512_fmadd_pd(weight, _mm512_loadu_pd(from + 24), d);
    }
    _mm512_storeu_pd(out + at, a);
    _mm512_storeu_pd(out + at + 8, b);
    _mm512_storeu_pd(out + at + 16, c);
    _mm512_storeu_pd(out + at + 24, d);
  }
}

QUERN_AVX512 void avx512_reach(const double* values, size_t count, double& least, double& most) {
  __m512d low[kVectors], high[kVectors];
  for (size_t v = 0; v < kVectors; ++v) low[v] = _mm512_set1_pd(least), high[v] = _mm512_set1_pd(most);
  for (size_t at = 0; at < count; at += kBinLanes)
    for (size_t v = 0; v < kVectors; ++v) {
      // Of NaN and a number the second operand comes out.
      const __m512d value = _mm512_loadu_pd(values + at + v * 8);
      low[v] = _mm512_min_pd(value, low[v]);
      high[v] = _mm512_max_pd(value, high[v]);
    }
  least = _mm512_reduce_min_pd(_mm512_min_pd(_mm512_min_pd(low[0], low[1]), _mm512_min_pd(low[2], low[3])));
  most = _mm512_reduce_max_pd(_mm512_max_pd(_mm512_max_pd(high[0], high[1]), _mm512_max_pd(high[2], high[3])));
}

QUERN_AVX512 void avx512_count(const double* values, size_t count, const double* edges, size_t edge_count,
                               uint64_t* counts) {
  for (size_t e = 0; e < edge_count; ++e) {
    const __m512d edge = _mm512_set1_pd(edges[e]);
    uint64_t found = 0;
    for (size_t at = 0; at < count; at += kBinLanes) {
      uint32_t from = 0;
      for (size_t v = 0; v < kVectors; ++v)
        from = from << 8 | _mm512_cmp_pd_mask(_mm512_loadu_pd(values + at + v * 8), edge, _CMP_GE_OQ);
      found += static_cast<uint64_t>(__builtin_popcount(from));
    }
    counts[e] += found;
  }
}

QUERN_AVX512 void avx512_add(const double* values, size_t count, const double* edges, size_t edge_count,
                             const double* table, double* out) {
  const __m512d low = _mm512_loadu_pd(table), high = _mm512_loadu_pd(table + 8);
  const __m512i one = _mm512_set1_epi64(1);
  for (size_t at = 0; at < count; at += kBinLanes) {
    __m512d value[kVectors];
    __m512i bins[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      value[v] = _mm512_loadu_pd(values + at + v * 8);
      bins[v] = _mm512_setzero_si512();
    }
    for (size_t e = 0; e < edge_count; ++e) {
      const __m512d edge = _mm512_set1_pd(edges[e]);
      for (size_t v = 0; v < kVectors; ++v)
        bins[v] = _mm512_mask_add_epi64(bins[v], _mm512_cmp_pd_mask(value[v], edge, _CMP_GT_OQ), bins[v], one);
    }
    for (size_t v = 0; v < kVectors; ++v) {
      double* const to = out + at + v * 8;
      _mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), _mm512_permutex2var_pd(low, bins[v], high)));
    }
  }
}

constexpr BinKernels avx512_kernels = {avx512_project, avx512_reach, avx512_count, avx512_add};
#endif

}  // namespace

const BinKernels& bin_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_kernels;
  if (isa == Isa::kAvx2) return avx2_kernels;
#endif
  static_cast<void>(isa);
  return portable_kernels;
}

}  // namespace quern
