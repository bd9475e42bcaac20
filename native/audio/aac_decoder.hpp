#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aac_transform.hpp"

namespace quern::audio {

/**
 * Decodes AAC of low complexity, 1 to 8 channels, frame by frame. What HE-AAC
 * adds to it (frequencies over half of its rate) is left out: the rate is then
 * that of the core. Not for several threads at once.
 */
class AacDecoder {
 public:
  /// `config` is an AudioSpecificConfig, as MP4 files have it. Throws
  /// Failure('bad_request') for other profiles.
  explicit AacDecoder(std::span<const uint8_t> config);
  ~AacDecoder();

  /// Hz.
  uint32_t rate() const;
  /// Appends the 1,024 samples of a frame (a raw_data_block), each the mean of
  /// all channels but those of low effects. Throws Failure('bad_request') for a
  /// damaged one.
  void decode(std::span<const uint8_t> frame, std::vector<float> &mono);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quern::audio
