#pragma once

#include <napi.h>

#include <span>
#include <string>

#include "arguments.hpp"
#include "objects.hpp"

namespace quern::binding {

/// Adds the functions and objects of native/contract/audio.ts to the exports.
void define_audio(Napi::Env env, Napi::Object exports);
/// Those of them that read foreign bytes.
void define_audio_readers(Napi::Env env, Napi::Object exports);

/// Bounds of one call, which is synchronous.
inline constexpr size_t kMostAudioSamples = size_t{1} << 20;
inline constexpr size_t kMostAudioBytes = size_t{1} << 22;

/// Samples of one call. Throws Failure('too_large') beyond the limit.
inline std::span<const float> samples_of(const Napi::Value& value, const char* name) {
  const std::span<const float> samples = float32_view(value, name);
  if (samples.size() > kMostAudioSamples)
    throw Failure("too_large", std::string(name) + " has " + std::to_string(samples.size()) + " numbers; at most " +
                                   std::to_string(kMostAudioSamples) + " are allowed.");
  return samples;
}

/// Bytes of one call. Throws Failure('too_large') beyond the limit.
inline std::span<const uint8_t> bytes_of(const Napi::Value& value, const char* name) {
  const std::span<const uint8_t> bytes = uint8_view(value, name);
  if (bytes.size() > kMostAudioBytes)
    throw Failure("too_large", std::string(name) + " has " + std::to_string(bytes.size()) + " bytes; at most " +
                                   std::to_string(kMostAudioBytes) + " are allowed.");
  return bytes;
}

}  // namespace quern::binding
