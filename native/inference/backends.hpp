#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quern {

struct Device {
  std::string name;
  std::string description;
  const char* kind;  ///< "cpu", "gpu" or "accel"
  uint64_t memory_bytes;
};

/**
 * Loads the CPU library that fits this machine from the first folder that has one, and every device plug-in of all
 * folders that this machine can run; the rest is skipped. A folder or plug-in is loaded once per process.
 * Throws Failure('unavailable') when no CPU library could be loaded.
 */
std::vector<Device> load_backends(const std::vector<std::string>& folders);

/// Devices that ggml knows now.
std::vector<Device> devices();

}  // namespace quern
