#pragma once

#include <vector>

#include "detector.hpp"
#include "kernel_rows.hpp"

namespace quern::anomaly {

/// The support of one class: a row is inside where the sum of weights * kernel is at least `rho`.
struct Support {
  std::vector<double> weights;  ///< per fitted row, 0 to 1
  double rho;
};

/**
 * Solves the one-class machine (Schölkopf et al., "Estimating the support of a high-dimensional distribution", 2001)
 * with the kernel exp(-gamma |a - b|^2): pairs of weights by second-order choice (Fan, Chen and Lin 2005), with
 * shrinking, as "LIBSVM: a library for support vector machines" (Chang and Lin 2011) describes it, in its scale:
 * weights up to 1 with the sum nu * rows. Ends when no pair breaks the optimality conditions by more than `tolerance`.
 * `most_kept` numbers of the kernel's table are kept; their count changes no digit.
 */
Support solve_one_class(const Matrix& rows, double gamma, double nu, double tolerance, const Work& work,
                        size_t most_kept = KernelRows::kMostKept);

}  // namespace quern::anomaly
