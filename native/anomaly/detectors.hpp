#pragma once

#include <memory>

#include "detector.hpp"

namespace quern::anomaly {

// One maker per file of the same name, where the method is described.
std::unique_ptr<Detector> make_autoencoder();
std::unique_ptr<Detector> make_cblof();
std::unique_ptr<Detector> make_copod();
std::unique_ptr<Detector> make_ecod();
std::unique_ptr<Detector> make_hbos();
std::unique_ptr<Detector> make_isolation_forest();
std::unique_ptr<Detector> make_knn();
std::unique_ptr<Detector> make_local_outlier_factor();
std::unique_ptr<Detector> make_loda();
std::unique_ptr<Detector> make_mcd();
std::unique_ptr<Detector> make_one_class_svm();
std::unique_ptr<Detector> make_suod();

}  // namespace quern::anomaly
