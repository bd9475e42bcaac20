#include <memory>
#include <utility>
#include <vector>

#include "../audio/aac_decoder.hpp"
#include "../audio/packet_reader.hpp"
#include "../audio/pcm_reader.hpp"
#include "arrays.hpp"
#include "audio_object.hpp"

namespace quern::binding {
namespace {

class PcmReaderObject : public Napi::ObjectWrap<PcmReaderObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = PcmReaderObject;
    define_class<Self>(env, "PcmReader",
                       {InstanceMethod<&Self::push>("push"), InstanceMethod<&Self::end>("end"),
                        InstanceMethod<&Self::read>("read"), InstanceMethod<&Self::facts>("facts")});
    define_opener(env, exports, "openPcmReader", "PcmReader");
  }

  explicit PcmReaderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    raising(info.Env(), [&] {
      const std::string format = text(info[0], "format");
      if (format == "wav") {
        reader_ = audio::open_wav_reader();
      } else if (format == "flac") {
        reader_ = audio::open_flac_reader();
      } else {
        throw Failure("invalid", "format is \"" + format.substr(0, 32) + "\"; allowed are wav and flac.");
      }
    });
  }

 private:
  Napi::Value push(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      reader_->push(bytes_of(info[0], "bytes"));
      return info.Env().Undefined();
    });
  }

  Napi::Value end(const Napi::CallbackInfo& info) {
    reader_->end();
    return info.Env().Undefined();
  }

  Napi::Value read(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<float> mono;
      reader_->read(mono);
      return to_array<Napi::Float32Array>(info.Env(), std::move(mono));
    });
  }

  Napi::Value facts(const Napi::CallbackInfo& info) {
    const auto facts = reader_->facts();
    if (!facts) return info.Env().Undefined();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("rate", facts->rate);
    object.Set("channels", facts->channels);
    if (facts->frames) object.Set("frames", static_cast<double>(*facts->frames));
    return object;
  }

  std::unique_ptr<audio::PcmReader> reader_;
};

const char* name_of(audio::Codec codec) {
  return codec == audio::Codec::kOpus ? "opus" : codec == audio::Codec::kVorbis ? "vorbis" : "flac";
}

class PacketReaderObject : public Napi::ObjectWrap<PacketReaderObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = PacketReaderObject;
    define_class<Self>(env, "PacketReader", {InstanceMethod<&Self::push>("push")});
    define_opener(env, exports, "openPacketReader", "PacketReader");
  }

  explicit PacketReaderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    raising(info.Env(), [&] {
      const std::string container = text(info[0], "container");
      if (container == "webm") {
        reader_ = audio::open_webm_reader();
      } else if (container == "ogg") {
        reader_ = audio::open_ogg_reader();
      } else {
        throw Failure("invalid", "container is \"" + container.substr(0, 32) + "\"; allowed are webm and ogg.");
      }
    });
  }

 private:
  Napi::Value push(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<audio::StreamPart> parts;
      reader_->push(bytes_of(info[0], "bytes"), parts);
      Napi::Array list = Napi::Array::New(info.Env(), parts.size());
      for (uint32_t i = 0; i < parts.size(); ++i) list.Set(i, part_object(info.Env(), parts[i]));
      return list;
    });
  }

  static Napi::Object part_object(Napi::Env env, audio::StreamPart& part) {
    using Kind = audio::StreamPart::Kind;
    Napi::Object object = Napi::Object::New(env);
    object.Set("kind", part.kind == Kind::kBegin ? "begin" : part.kind == Kind::kPacket ? "packet" : "end");
    if (part.kind == Kind::kEnd) {
      object.Set("total", static_cast<double>(part.total));
      return object;
    }
    object.Set("bytes", to_array<Napi::Uint8Array>(env, std::move(part.bytes)));
    if (part.kind == Kind::kPacket) return object;
    object.Set("codec", name_of(part.codec));
    object.Set("channels", part.channels);
    object.Set("preSkip", part.pre_skip);
    return object;
  }

  std::unique_ptr<audio::PacketReader> reader_;
};

class AacDecoderObject : public Napi::ObjectWrap<AacDecoderObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports) {
    using Self = AacDecoderObject;
    define_class<Self>(env, "AacDecoder",
                       {InstanceMethod<&Self::decode>("decode"), InstanceAccessor<&Self::rate>("rate")});
    define_opener(env, exports, "openAacDecoder", "AacDecoder");
  }

  explicit AacDecoderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    raising(info.Env(), [&] { decoder_ = std::make_unique<audio::AacDecoder>(bytes_of(info[0], "config")); });
  }

 private:
  Napi::Value decode(const Napi::CallbackInfo& info) {
    return raising(info.Env(), [&]() -> Napi::Value {
      std::vector<float> mono;
      decoder_->decode(bytes_of(info[0], "frame"), mono);
      return to_array<Napi::Float32Array>(info.Env(), std::move(mono));
    });
  }

  Napi::Value rate(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), decoder_->rate()); }

  std::unique_ptr<audio::AacDecoder> decoder_;
};

}  // namespace

void define_audio_readers(Napi::Env env, Napi::Object exports) {
  PcmReaderObject::define(env, exports);
  PacketReaderObject::define(env, exports);
  AacDecoderObject::define(env, exports);
}

}  // namespace quern::binding
