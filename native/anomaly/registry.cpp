#include "registry.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "../base/failure.hpp"
#include "detectors.hpp"

namespace quern::anomaly {
namespace {

struct Backend {
  std::string_view name;
  std::unique_ptr<Detector> (*make)();
};

constexpr Backend kBackends[] = {
    {"autoencoder", make_autoencoder},
    {"cblof", make_cblof},
    {"copod", make_copod},
    {"ecod", make_ecod},
    {"hbos", make_hbos},
    {"isolation_forest", make_isolation_forest},
    {"knn", make_knn},
    {"local_outlier_factor", make_local_outlier_factor},
    {"loda", make_loda},
    {"mcd", make_mcd},
    {"one_class_svm", make_one_class_svm},
    {"suod", make_suod},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kBackends)> names;
  std::ranges::transform(kBackends, names.begin(), &Backend::name);
  return names;
}();
static_assert(std::ranges::is_sorted(kNames));

}  // namespace

std::span<const std::string_view> backends() {
  return kNames;
}

std::unique_ptr<Detector> make_detector(std::string_view backend) {
  for (const Backend& known : kBackends)
    if (known.name == backend) return known.make();
  std::string all;
  for (const std::string_view name : kNames) all += (all.empty() ? "" : ", ") + std::string(name);
  throw Failure("invalid", "backend is '" + std::string(backend) + "'; known are " + all + ".");
}

}  // namespace quern::anomaly
