// Decodes arbitrary bytes as frames of AAC: the first two are the configuration, each frame begins with its length in
// two bytes.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "../audio/aac_decoder.hpp"
#include "../base/failure.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern::audio;
  if (size < 2) return 0;
  std::span left(bytes, size);
  try {
    AacDecoder decoder(left.first(2));
    left = left.subspan(2);
    while (left.size() > 2) {
      const size_t length = std::min<size_t>(size_t{left[0]} << 8 | left[1], left.size() - 2);
      std::vector<float> mono;
      try {
        decoder.decode(left.subspan(2, length), mono);
      } catch (const quern::Failure&) {
      }
      for (const float sample : mono)
        if (!std::isfinite(sample)) std::abort();
      left = left.subspan(2 + length);
    }
  } catch (const quern::Failure&) {
  }
  return 0;
}
