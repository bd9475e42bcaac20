#include "options.hpp"

#include "../base/failure.hpp"

namespace quern::vectors {
namespace {

void require(const char* name, size_t value, size_t least, size_t most) {
  if (value >= least && value <= most) return;
  throw Failure("invalid", std::string(name) + " is " + std::to_string(value) + "; allowed is " +
                               std::to_string(least) + " to " + std::to_string(most) + ".");
}

}  // namespace

Metric metric_of(std::string_view name) {
  if (name == "cosine") return Metric::kCosine;
  if (name == "inner_product") return Metric::kInnerProduct;
  if (name == "l2") return Metric::kL2;
  throw Failure("invalid", "metric is '" + std::string(name) + "'; allowed are cosine, inner_product and l2.");
}

Storage storage_of(std::string_view name) {
  if (name == "f32") return Storage::kF32;
  if (name == "f16") return Storage::kF16;
  if (name == "i8") return Storage::kI8;
  throw Failure("invalid", "storage is '" + std::string(name) + "'; allowed are f32, f16 and i8.");
}

void check(const IndexOptions& options) {
  require("dimensions", options.dimensions, 1, kMostDimensions);
  require("connectivity", options.connectivity, 4, 128);
  require("effortBuild", options.effort_build, 8, 4096);
}

}  // namespace quern::vectors
