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
#define QUERN_BACKEND(name) {#name, make_##name},
    QUERN_DETECTORS(QUERN_BACKEND)
#undef QUERN_BACKEND
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
