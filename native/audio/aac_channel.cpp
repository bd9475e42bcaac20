#include "aac_channel.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>

#include "../base/failure.hpp"

namespace quern::audio::aac {
namespace {

constexpr int32_t kMostFactor = 255;
/// Of noise and of places between left and right; a sound stream has less.
constexpr int32_t kMostOther = 512;
constexpr uint32_t kEscapeBook = 11;
constexpr uint32_t kReservedBook = 12;
/// The largest number of a spectrum is 8,191, of 13 bits.
constexpr uint32_t kMostEscapeBits = 9;

int32_t factor_step(BitReader &in) {
  return static_cast<int32_t>(scale_book().read(in)) - 60;
}

/// A number over 15: so many ones, a zero, and 4 bits more than there were
/// ones.
int32_t escape(BitReader &in) {
  uint32_t ones = 0;
  while (in.bit())
    if (++ones >= kMostEscapeBits) damaged();
  return static_cast<int32_t>((1U << (ones + 4)) + in.bits(ones + 4));
}

void read_numbers(BitReader &in, const Book &book, bool escapes, int32_t *into) {
  uint32_t symbol = book.read(in);
  for (uint32_t i = book.dimensions; i-- > 0;) {
    into[i] = static_cast<int32_t>(symbol % static_cast<uint32_t>(book.base));
    symbol /= static_cast<uint32_t>(book.base);
  }
  if (book.is_signed) {
    for (uint32_t i = 0; i < book.dimensions; ++i) into[i] -= book.base / 2;
    return;
  }
  std::array<bool, 4> minus{};
  for (uint32_t i = 0; i < book.dimensions; ++i) minus[i] = into[i] != 0 && in.bit();
  for (uint32_t i = 0; i < book.dimensions; ++i) {
    if (escapes && into[i] == 16) into[i] = escape(in);
    if (minus[i]) into[i] = -into[i];
  }
}

/// What a number of the stream stands for before it is scaled: its sign and its
/// power of 4/3.
float spread(int32_t number) {
  constexpr size_t kKnown = 1024;
  static const auto table = [] {
    std::array<float, kKnown> made{};
    for (size_t i = 0; i < kKnown; ++i) made[i] = static_cast<float>(std::pow(static_cast<double>(i), 4.0 / 3));
    return made;
  }();
  const auto size = static_cast<size_t>(std::abs(number));
  const float value = size < kKnown ? table[size] : std::pow(static_cast<float>(size), 4.0F / 3);
  return number < 0 ? -value : value;
}

}  // namespace

void damaged() {
  throw Failure("bad_request", "The AAC audio is damaged.");
}

void refuse(const char *what) {
  throw Failure("bad_request", std::string("The AAC audio ") + what + "; AAC of low complexity is read.");
}

void Windows::read(BitReader &in, uint32_t rate) {
  rate_index = rate;
  in.bit();
  sequence = static_cast<Sequence>(in.bits(2));
  shape = static_cast<Shape>(in.bits(1));
  groups = 1;
  group_size = {1};
  if (is_short()) {
    starts = short_bands(rate);
    bands = in.bits(4);
    for (uint32_t window = 1; window < kMostWindows; ++window) {
      if (in.bit())
        ++group_size[groups - 1];
      else
        group_size[groups++] = 1;
    }
  } else {
    starts = long_bands(rate);
    bands = in.bits(6);
    if (in.bit()) refuse("predicts its spectrum");
  }
  if (bands >= starts.size()) damaged();
}

void ChannelFrame::read_books(BitReader &in) {
  const uint32_t width = windows.is_short() ? 3 : 5;
  const uint32_t more = (1U << width) - 1;
  for (uint32_t group = 0; group < windows.groups; ++group) {
    for (uint32_t band = 0; band < windows.bands;) {
      const auto book = static_cast<uint8_t>(in.bits(4));
      if (book == kReservedBook) damaged();
      uint32_t length = 0;
      uint32_t part = 0;
      do {
        part = in.bits(width);
        length += part;
      } while (part == more);
      if (length > windows.bands - band) damaged();
      for (const uint32_t end = band + length; band < end; ++band) books[group][band] = book;
      // Otherwise a stream of nothing but such parts would never end a band.
      if (length == 0 && in.left() == 0) throw OutOfBits{};
    }
  }
}

void ChannelFrame::read_factors(BitReader &in, int32_t gain) {
  constexpr int32_t kNoiseBelow = 90;
  constexpr int32_t kNoiseFirst = 256;
  int32_t factor = gain;
  int32_t place = 0;
  int32_t noise = gain - kNoiseBelow;
  bool first_noise = true;
  for (uint32_t group = 0; group < windows.groups; ++group) {
    for (uint32_t band = 0; band < windows.bands; ++band) {
      const uint8_t book = books[group][band];
      int32_t &value = factors[group][band];
      if (book == 0) {
        value = 0;
      } else if (book == kNoise) {
        noise += first_noise ? static_cast<int32_t>(in.bits(9)) - kNoiseFirst : factor_step(in);
        first_noise = false;
        if (std::abs(noise) > kMostOther) damaged();
        value = noise;
      } else if (book == kSame || book == kTurned) {
        place += factor_step(in);
        if (std::abs(place) > kMostOther) damaged();
        value = place;
      } else {
        factor += factor_step(in);
        if (factor < 0 || factor > kMostFactor) damaged();
        value = factor;
      }
    }
  }
}

void ChannelFrame::add_pulses(BitReader &in, std::array<int32_t, kFrame> &numbers) {
  if (windows.is_short()) damaged();
  const uint32_t count = in.bits(2) + 1;
  const uint32_t band = in.bits(6);
  if (band + 1 >= windows.starts.size()) damaged();
  uint32_t at = windows.starts[band];
  for (uint32_t i = 0; i < count; ++i) {
    at += in.bits(5);
    if (at >= kFrame) damaged();
    // Kept apart until the spectrum is read.
    numbers[at] += static_cast<int32_t>(in.bits(4));
  }
}

void ChannelFrame::read_shaping(BitReader &in) {
  const bool is_short = windows.is_short();
  const uint32_t most = is_short ? 7 : 12;
  const uint32_t count = is_short ? kMostWindows : 1;
  for (uint32_t window = 0; window < count; ++window) {
    filter_count_[window] = static_cast<uint8_t>(in.bits(is_short ? 1 : 2));
    if (filter_count_[window] == 0) continue;
    const uint32_t resolution = in.bits(1) + 3;
    for (uint32_t i = 0; i < filter_count_[window]; ++i) {
      Filter &filter = filters_[window][i];
      filter.bands = in.bits(is_short ? 4 : 6);
      filter.order = in.bits(is_short ? 3 : 5);
      if (filter.order == 0) continue;
      if (filter.order > most) damaged();
      filter.backwards = in.bit();
      const uint32_t bits = resolution - in.bits(1);
      const double half = static_cast<double>(1U << (resolution - 1));
      std::array<float, 20> next{};
      for (uint32_t m = 0; m < filter.order; ++m) {
        const auto step = static_cast<double>(in.signed_bits(bits));
        const double angle = step * std::numbers::pi / 2 / (step >= 0 ? half - 0.5 : half + 0.5);
        const auto reflected = static_cast<float>(std::sin(angle));
        // A reflection more, and the factors that do the same.
        next = filter.factors;
        for (uint32_t k = 0; k < m; ++k) next[k] = filter.factors[k] + reflected * filter.factors[m - 1 - k];
        next[m] = reflected;
        filter.factors = next;
      }
    }
  }
}

void ChannelFrame::unshape() {
  const uint32_t count = windows.is_short() ? kMostWindows : 1;
  const uint32_t all = static_cast<uint32_t>(windows.starts.size()) - 1;
  const uint32_t reach = std::min(shaped_bands(windows.rate_index, windows.is_short()), windows.bands);
  for (uint32_t window = 0; window < count; ++window) {
    uint32_t bottom = all;
    for (uint32_t i = 0; i < filter_count_[window]; ++i) {
      const Filter &filter = filters_[window][i];
      const uint32_t top = bottom;
      bottom = top - std::min(filter.bands, top);
      if (filter.order == 0) continue;
      const int32_t from = windows.starts[std::min(bottom, reach)];
      const int32_t until = windows.starts[std::min(top, reach)];
      float *const values = spectrum.data() + window * kShortFrame;
      const int32_t step = filter.backwards ? -1 : 1;
      int32_t at = filter.backwards ? until - 1 : from;
      for (int32_t n = 0; n < until - from; ++n, at += step) {
        const int32_t known = std::min(n, static_cast<int32_t>(filter.order));
        for (int32_t k = 1; k <= known; ++k)
          values[at] -= filter.factors[static_cast<size_t>(k - 1)] * values[at - k * step];
      }
    }
  }
}

void ChannelFrame::read_spectrum(BitReader &in, std::array<int32_t, kFrame> &numbers) const {
  uint32_t first = 0;
  for (uint32_t group = 0; group < windows.groups; ++group) {
    for (uint32_t band = 0; band < windows.bands; ++band) {
      const uint8_t number = books[group][band];
      if (number == 0 || number > kBooks) continue;
      const Book &book = spectral_book(number);
      const uint32_t size = windows.starts[band + 1] - windows.starts[band];
      for (uint32_t window = first; window < first + windows.group_size[group]; ++window) {
        int32_t *into = numbers.data() + window * kShortFrame + windows.starts[band];
        for (uint32_t i = 0; i < size; i += book.dimensions) read_numbers(in, book, number == kEscapeBook, into + i);
      }
    }
    first += windows.group_size[group];
  }
}

void ChannelFrame::scale(const std::array<int32_t, kFrame> &numbers, uint32_t &noise_seed) {
  spectrum.fill(0);
  each_stretch(windows, [&](uint32_t group, uint32_t band, uint32_t from, uint32_t size) {
    const uint8_t book = books[group][band];
    float *values = spectrum.data() + from;
    if (book == kNoise) {
      float energy = 0;
      for (uint32_t i = 0; i < size; ++i) {
        noise_seed = noise_seed * 1664525 + 1013904223;
        values[i] = static_cast<float>(static_cast<int32_t>(noise_seed)) / 2147483648.0F;
        energy += values[i] * values[i];
      }
      const float gain = std::exp2(static_cast<float>(factors[group][band]) / 4) / std::sqrt(energy + 1e-9F);
      for (uint32_t i = 0; i < size; ++i) values[i] *= gain;
    } else if (book > 0 && book <= kBooks) {
      const float gain = std::exp2(static_cast<float>(factors[group][band] - 100) / 4);
      for (uint32_t i = 0; i < size; ++i) values[i] = gain * spread(numbers[from + i]);
    }
  });
}

void ChannelFrame::read(BitReader &in, uint32_t rate_index, const Windows *shared, uint32_t &noise_seed) {
  const auto gain = static_cast<int32_t>(in.bits(8));
  if (shared != nullptr)
    windows = *shared;
  else
    windows.read(in, rate_index);
  for (auto &group : books) group.fill(0);
  for (auto &group : factors) group.fill(0);
  filter_count_.fill(0);
  filters_ = {};
  read_books(in);
  read_factors(in, gain);
  std::array<int32_t, kFrame> pulses{};
  if (in.bit()) add_pulses(in, pulses);
  if (in.bit()) read_shaping(in);
  if (in.bit()) refuse("controls its gain");
  std::array<int32_t, kFrame> numbers{};
  read_spectrum(in, numbers);
  for (size_t i = 0; i < kFrame; ++i)
    if (pulses[i] != 0) numbers[i] += numbers[i] > 0 ? pulses[i] : -pulses[i];
  scale(numbers, noise_seed);
}

}  // namespace quern::audio::aac
