#include "audio_object.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../audio/ogg_writer.hpp"
#include "../audio/resampler.hpp"
#include "../audio/samples.hpp"
#include "../audio/time_stretch.hpp"
#include "../audio/voice_activity.hpp"
#include "../audio/wav.hpp"
#include "arrays.hpp"

namespace quern::binding {
namespace {

constexpr uint32_t kMostChannels = 64;

/// Of a sum of bytes or samples that JavaScript counts.
constexpr uint64_t kMostCounted = 9007199254740991;

uint64_t counted(const Napi::Value& value, const char* name, uint64_t least, uint64_t most) {
  return whole(value, name, least, most, "a whole number");
}

Napi::Value encode_samples(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const std::span<const float> samples = samples_of(info[0], "samples");
    const audio::Encoding encoding = audio::encoding_of(text(info[1], "encoding"));
    std::vector<uint8_t> bytes(samples.size() * audio::bytes_of(encoding));
    audio::encode_samples(samples, encoding, bytes);
    return to_array<Napi::Uint8Array>(info.Env(), std::move(bytes));
  });
}

Napi::Value decode_samples(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const std::span<const uint8_t> bytes = bytes_of(info[0], "bytes");
    const audio::Encoding encoding = audio::encoding_of(text(info[1], "encoding"));
    std::vector<float> samples;
    audio::decode_frames(bytes, encoding, counted(info[2], "channels", 1, kMostChannels), samples);
    return to_array<Napi::Float32Array>(info.Env(), std::move(samples));
  });
}

Napi::Value mix_channels(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsArray()) throw Failure("invalid", "channels must be an array.");
    const Napi::Array list = info[0].As<Napi::Array>();
    if (list.Length() < 1 || list.Length() > kMostChannels)
      throw Failure("invalid", "channels has " + std::to_string(list.Length()) + " items; allowed is 1 to 64.");
    std::vector<std::span<const float>> rows;
    for (uint32_t i = 0; i < list.Length(); ++i) rows.push_back(samples_of(list.Get(i), "channels"));
    std::vector<float> mono;
    audio::mix_rows(rows, mono);
    return to_array<Napi::Float32Array>(info.Env(), std::move(mono));
  });
}

Napi::Value wav_header(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const auto rate = static_cast<uint32_t>(counted(info[0], "rate", 1, audio::kMostRate));
    const audio::Encoding encoding = audio::encoding_of(text(info[1], "encoding"));
    std::optional<uint64_t> size;
    if (!info[2].IsUndefined()) size = counted(info[2], "dataBytes", 0, kMostCounted);
    const auto header = audio::wav_header(rate, encoding, size);
    return to_array<Napi::Uint8Array>(info.Env(), std::vector<uint8_t>(header.begin(), header.end()));
  });
}

class SampleStreamObject : public Napi::ObjectWrap<SampleStreamObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = SampleStreamObject;
    define_class<Self>(env, kClass, {InstanceMethod<&Self::push>("push"), InstanceMethod<&Self::flush>("flush")});
    exports.Set("openResampler", Napi::Function::New(env, open<make_resampler>, "openResampler"));
    exports.Set("openTimeStretch", Napi::Function::New(env, open<make_time_stretch>, "openTimeStretch"));
  }

  explicit SampleStreamObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    if (!info[0].IsExternal()) throw to_error(info.Env(), "invalid", "A stream of samples is made by its opener only.");
    stream_.reset(info[0].As<Napi::External<audio::SampleStream>>().Data());
  }

 private:
  static constexpr const char* kClass = "SampleStream";
  using Made = std::unique_ptr<audio::SampleStream>;

  static Made make_resampler(const Napi::CallbackInfo& info) {
    return std::make_unique<audio::Resampler>(integer(info[0], "from"), integer(info[1], "to"));
  }

  static Made make_time_stretch(const Napi::CallbackInfo& info) {
    return std::make_unique<audio::TimeStretch>(integer(info[0], "rate"), number(info[1], "speed"));
  }

  template <Made (*make)(const Napi::CallbackInfo&)>
  static Napi::Value open(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      Made made = make(info);
      const auto carried = Napi::External<audio::SampleStream>::New(info.Env(), made.release());
      return make_object(info.Env(), kClass, {carried});
    });
  }

  Napi::Value push(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<float> out;
      stream_->push(samples_of(info[0], "samples"), out);
      return to_array<Napi::Float32Array>(info.Env(), std::move(out));
    });
  }

  Napi::Value flush(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<float> out;
      stream_->flush(out);
      return to_array<Napi::Float32Array>(info.Env(), std::move(out));
    });
  }

  Made stream_;
};

class VoiceActivityObject : public Napi::ObjectWrap<VoiceActivityObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = VoiceActivityObject;
    define_class<Self>(env, "VoiceActivity",
                       {InstanceMethod<&Self::push>("push"), InstanceMethod<&Self::reset>("reset")});
    define_opener(env, exports, "openVoiceActivity", "VoiceActivity");
  }

  explicit VoiceActivityObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    raising(info.Env(), [&] {
      detector_ = std::make_unique<audio::EnergyVoiceActivity>(integer(info[0], "frameSamples"),
                                                               static_cast<float>(number(info[1], "threshold")));
    });
  }

 private:
  Napi::Value push(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<float> out;
      detector_->push(samples_of(info[0], "samples"), out);
      return to_array<Napi::Float32Array>(info.Env(), std::move(out));
    });
  }

  Napi::Value reset(const Napi::CallbackInfo& info) {
    detector_->reset();
    return info.Env().Undefined();
  }

  std::unique_ptr<audio::EnergyVoiceActivity> detector_;
};

class OggWriterObject : public Napi::ObjectWrap<OggWriterObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = OggWriterObject;
    define_class<Self>(env, "OggWriter", {InstanceMethod<&Self::push>("push"), InstanceMethod<&Self::end>("end")});
    define_opener(env, exports, "openOggWriter", "OggWriter");
  }

  explicit OggWriterObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    raising(info.Env(), [&] {
      const Napi::Object from = object(info[0], "options");
      writer_ = std::make_unique<audio::OggOpusWriter>(audio::OggOpusOptions{
          .serial = static_cast<uint32_t>(counted(from.Get("serial"), "serial", 0, UINT32_MAX)),
          .input_rate = static_cast<uint32_t>(counted(from.Get("inputRate"), "inputRate", 1, UINT32_MAX)),
          .channels = static_cast<uint8_t>(counted(from.Get("channels"), "channels", 1, 2)),
          .pre_skip = static_cast<uint16_t>(counted(from.Get("preSkip"), "preSkip", 0, UINT16_MAX))});
    });
  }

 private:
  Napi::Value push(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<uint8_t> out;
      writer_->push(bytes_of(info[0], "packet"), static_cast<uint32_t>(counted(info[1], "samples", 0, UINT32_MAX)),
                    out);
      return to_array<Napi::Uint8Array>(info.Env(), std::move(out));
    });
  }

  Napi::Value end(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<uint8_t> out;
      writer_->end(counted(info[0], "total", 0, kMostCounted), out);
      return to_array<Napi::Uint8Array>(info.Env(), std::move(out));
    });
  }

  std::unique_ptr<audio::OggOpusWriter> writer_;
};

}  // namespace

void define_audio(Napi::Env env, Napi::Object exports) {
  exports.Set("encodeSamples", Napi::Function::New(env, encode_samples, "encodeSamples"));
  exports.Set("decodeSamples", Napi::Function::New(env, decode_samples, "decodeSamples"));
  exports.Set("mixChannels", Napi::Function::New(env, mix_channels, "mixChannels"));
  exports.Set("wavHeader", Napi::Function::New(env, wav_header, "wavHeader"));
  SampleStreamObject::define(env, exports);
  VoiceActivityObject::define(env, exports);
  OggWriterObject::define(env, exports);
  define_audio_readers(env, exports);
}

}  // namespace quern::binding
