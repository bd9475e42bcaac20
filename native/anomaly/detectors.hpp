#pragma once

#include <memory>

#include "detector.hpp"

/// All backends in alphabetical order, each in the file of its name, where the method is described.
// clang-format off
#define QUERN_DETECTORS(each) \
  each(autoencoder)           \
  each(cblof)                 \
  each(copod)                 \
  each(ecod)                  \
  each(hbos)                  \
  each(isolation_forest)      \
  each(knn)                   \
  each(local_outlier_factor)  \
  each(loda)                  \
  each(mcd)                   \
  each(one_class_svm)         \
  each(suod)
// clang-format on

namespace quern::anomaly {

#define QUERN_DECLARE(name) std::unique_ptr<Detector> make_##name();
QUERN_DETECTORS(QUERN_DECLARE)
#undef QUERN_DECLARE

}  // namespace quern::anomaly
