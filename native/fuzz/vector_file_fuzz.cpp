// Loads arbitrary bytes as the file of a vector index. Whatever they are, they must be refused, or searched without
// harm.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "../vectors/index.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern;
  static const std::string path = "/tmp/quern-vector-fuzz-" + std::to_string(::getpid());
  // A new file each time: the index before may still have the old one mapped.
  ::unlink(path.c_str());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  vectors::VectorIndex index({.dimensions = 4, .storage = vectors::Storage::kI8, .scan_below = 8});
  const LoadOutcome outcome = index.load(path, 1);
  if (outcome.state != LoadState::kLoaded && index.stats().rows > 0) std::abort();
  index.search(std::vector<float>{1, 2, 3, 4}, {.k = 10});
  return 0;
}
