#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "detector.hpp"

namespace quern::anomaly {

/// The names of all backends, in alphabetical order.
std::span<const std::string_view> backends();

/// A detector that is not fitted. Throws Failure('invalid') with the known names.
std::unique_ptr<Detector> make_detector(std::string_view backend);

}  // namespace quern::anomaly
