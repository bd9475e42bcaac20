// Reads arbitrary bytes as a WAV and as a FLAC file, in pieces whose sizes come from the bytes, too. Whatever they are,
// they must be refused or read without harm, and give no more samples at a time than was promised.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "../audio/pcm_reader.hpp"
#include "../base/failure.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern::audio;
  if (size == 0) return 0;
  const size_t piece = size_t{bytes[0]} + 1;
  const std::span file(bytes + 1, size - 1);
  for (const auto open : {open_wav_reader, open_flac_reader}) {
    const auto reader = open();
    // A few bytes may stand for hours.
    size_t left = size_t{1} << 22;
    const auto drain = [&] {
      for (std::vector<float> samples; left > 0; samples.clear()) {
        reader->read(samples);
        if (samples.empty()) return;
        if (samples.size() > kSamplesAtOnce + 65535) std::abort();
        for (const float sample : samples)
          if (!std::isfinite(sample)) std::abort();
        left -= std::min(left, samples.size());
      }
    };
    try {
      for (size_t at = 0; at < file.size(); at += piece) {
        reader->push(file.subspan(at, std::min(piece, file.size() - at)));
        drain();
      }
      reader->end();
      drain();
    } catch (const quern::Failure&) {
    }
  }
  return 0;
}
