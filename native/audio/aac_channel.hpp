#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "aac_tables.hpp"
#include "aac_transform.hpp"
#include "bit_reader.hpp"

namespace quern::audio::aac {

/// Throws Failure('bad_request').
[[noreturn]] void damaged();
[[noreturn]] void refuse(const char *what);

/// Books that stand for no spectrum: noise, and what is taken from the left
/// channel, with the sign turned or not.
inline constexpr uint8_t kNoise = 13, kTurned = 14, kSame = 15;
inline constexpr uint32_t kMostBands = 51;
inline constexpr uint32_t kMostWindows = 8;

/// How a frame of a channel is cut into windows and bands.
struct Windows {
  Sequence sequence = Sequence::kLong;
  Shape shape = Shape::kSine;
  /// Windows in groups that share their factors: one, or up to eight short
  /// ones.
  uint32_t groups = 1;
  std::array<uint8_t, kMostWindows> group_size{1};
  uint32_t bands = 0;
  std::span<const uint16_t> starts;
  uint32_t rate_index = 0;

  bool is_short() const { return sequence == Sequence::kShort; }
  void read(BitReader &in, uint32_t rate);
};

/// A frame of one channel, before it is made samples.
struct ChannelFrame {
  Windows windows;
  /// By group and band.
  std::array<std::array<uint8_t, kMostBands>, kMostWindows> books{};
  std::array<std::array<int32_t, kMostBands>, kMostWindows> factors{};
  alignas(64) std::array<float, kFrame> spectrum{};

  /// Reads it; `shared` are the windows that it has in common with another
  /// channel.
  void read(BitReader &in, uint32_t rate_index, const Windows *shared, uint32_t &noise_seed);
  /// Undoes the shaping of noise in time.
  void unshape();

 private:
  struct Filter {
    uint32_t bands;
    uint32_t order;
    bool backwards;
    std::array<float, 20> factors;
  };

  void read_books(BitReader &in);
  void read_factors(BitReader &in, int32_t gain);
  void read_shaping(BitReader &in);
  void read_spectrum(BitReader &in, std::array<int32_t, kFrame> &numbers) const;
  void add_pulses(BitReader &in, std::array<int32_t, kFrame> &numbers);
  void scale(const std::array<int32_t, kFrame> &numbers, uint32_t &noise_seed);

  std::array<std::array<Filter, 3>, kMostWindows> filters_{};
  std::array<uint8_t, kMostWindows> filter_count_{};
};

/// Calls `each(group, band, from, size)` for the stretch of the spectrum of
/// each band of each window.
template <typename Each>
void each_stretch(const Windows &windows, Each each) {
  uint32_t window = 0;
  for (uint32_t group = 0; group < windows.groups; ++group)
    for (uint32_t in_group = 0; in_group < windows.group_size[group]; ++in_group, ++window)
      for (uint32_t band = 0; band < windows.bands; ++band)
        each(group, band, window * kShortFrame + windows.starts[band],
             static_cast<uint32_t>(windows.starts[band + 1] - windows.starts[band]));
}

}  // namespace quern::audio::aac
