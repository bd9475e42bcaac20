#pragma once

#include <cstddef>

#include "../base/cpu.hpp"

namespace quern {

/// Vector updates on `n` numbers.
struct LinearKernels {
  /// to += factor * from.
  void (*add_scaled)(float factor, const float* from, float* to, size_t n);
};

/// Kernels of one instruction set, which the processor must have.
const LinearKernels& linear_kernels(Isa isa = best_isa());

}  // namespace quern
