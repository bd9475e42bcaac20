#pragma once

#include <cstddef>
#include <cstdint>

#include "../base/cpu.hpp"
#include "../base/half.hpp"

namespace quern {

/// Sums over two vectors of `n` numbers. Floating-point sums differ between the sets by rounding alone.
struct DistanceKernels {
  float (*dot)(const float* a, const float* b, size_t n);
  /// Squared Euclidean distance.
  float (*l2)(const float* a, const float* b, size_t n);
  float (*dot_half)(const float* a, const Half* b, size_t n);
  float (*l2_half)(const float* a, const Half* b, size_t n);
  /// Of codes from -127 to 127, exact for n up to 2^17.
  int32_t (*dot_codes)(const int8_t* a, const int8_t* b, size_t n);
  /// dot_codes() of one vector with many, which are fetched into the cache ahead of their turn.
  void (*dot_many_codes)(const int8_t* a, const int8_t* const* many, size_t count, size_t n, int32_t* sums);
};

/// Kernels of one instruction set, which the processor must have; `best_isa()` is the fastest that it has.
const DistanceKernels& distance_kernels(Isa isa = best_isa());

}  // namespace quern
