#include "wav.hpp"

#include <cstring>
#include <string>

#include "../base/failure.hpp"

namespace quern::audio {
namespace {

constexpr uint32_t kUnknown = 0xffffffff;
constexpr uint32_t kWholeNumbers = 1;
constexpr uint32_t kFloats = 3;

}  // namespace

std::array<uint8_t, kWavHeaderBytes> wav_header(uint32_t rate, Encoding encoding, std::optional<uint64_t> data_bytes) {
  constexpr uint64_t kAround = kWavHeaderBytes - 8;
  if (data_bytes && *data_bytes > kUnknown - kAround - 1)
    throw Failure("too_large",
                  "A WAV file holds less than 4 GiB; these samples take " + std::to_string(*data_bytes) + " bytes.");
  const auto bytes = static_cast<uint32_t>(bytes_of(encoding));
  std::array<uint8_t, kWavHeaderBytes> header{};
  size_t at = 0;
  const auto name = [&](const char* four) {
    std::memcpy(header.data() + at, four, 4);
    at += 4;
  };
  const auto number = [&](uint32_t value, size_t width) {
    for (size_t i = 0; i < width; ++i) header[at++] = static_cast<uint8_t>(value >> (8 * i));
  };
  name("RIFF");
  number(data_bytes ? static_cast<uint32_t>(*data_bytes + kAround) : kUnknown, 4);
  name("WAVE");
  name("fmt ");
  number(16, 4);
  number(encoding == Encoding::kF32 ? kFloats : kWholeNumbers, 2);
  number(1, 2);
  number(rate, 4);
  number(rate * bytes, 4);
  number(bytes, 2);
  number(8 * bytes, 2);
  name("data");
  number(data_bytes ? static_cast<uint32_t>(*data_bytes) : kUnknown, 4);
  return header;
}

}  // namespace quern::audio
