// Loads arbitrary bytes as the file of a text index. Whatever they are, they must be refused, or searched without harm.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../text/index.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern;
  static const std::string path = "/tmp/quern-text-fuzz-" + std::to_string(::getpid());
  // A new file each time: the index before may still have the old one mapped.
  ::unlink(path.c_str());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  text::TextIndex index({});
  const LoadOutcome outcome = index.load(path, 1);
  if (outcome.state != LoadState::kLoaded && index.stats().documents > 0) std::abort();
  index.search("a word", {});
  return 0;
}
