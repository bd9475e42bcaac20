#include "transcriber_object.hpp"

#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../inference/backends.hpp"
#include "arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

constexpr const char* kClass = "Transcriber";

TranscriberOptions transcriber_options(const Napi::Value& value) {
  const Napi::Object given = object(value, "transcriber");
  TranscriberOptions options{.threads = integer(given.Get("threads"), "threads"),
                             .gpu = boolean(given.Get("gpu"), "gpu")};
  check(options);
  return options;
}

TranscribeOptions transcribe_options(const Napi::Value& value) {
  const Napi::Object given = object(value, "options");
  TranscribeOptions options{.language = text(given.Get("language"), "language"),
                            .translate = boolean(given.Get("translate"), "translate"),
                            .prompt = text(given.Get("prompt"), "prompt"),
                            .temperature = static_cast<float>(number(given.Get("temperature"), "temperature")),
                            .words = boolean(given.Get("words"), "words"),
                            .audio_context = integer(given.Get("audioContext"), "audioContext")};
  check(options);
  return options;
}

Napi::Object segment_object(Napi::Env env, const Segment& segment, bool has_words) {
  Napi::Object made = Napi::Object::New(env);
  made.Set("start", segment.start);
  made.Set("end", segment.end);
  made.Set("text", segment.text);
  made.Set("meanLogProbability", segment.mean_log_probability);
  made.Set("noSpeechProbability", segment.no_speech_probability);
  made.Set("words", env.Null());
  if (!has_words) return made;
  Napi::Array words = Napi::Array::New(env, segment.words.size());
  for (uint32_t i = 0; i < segment.words.size(); ++i) {
    const SpokenWord& from = segment.words[i];
    Napi::Object word = Napi::Object::New(env);
    word.Set("word", from.text);
    word.Set("start", from.start);
    word.Set("end", from.end);
    word.Set("probability", from.probability);
    words.Set(i, word);
  }
  made.Set("words", words);
  return made;
}

/// One call of transcribe(): a thread of its own hears, the segments and the outcome come to the JavaScript thread in
/// their order. Deletes itself.
class TranscribeJob : public Living {
 public:
  static Napi::Promise start(Napi::Env env, std::shared_ptr<Transcriber> transcriber, std::vector<float> samples,
                             TranscribeOptions options, std::shared_ptr<std::atomic<bool>> stop,
                             Napi::Function on_segment) {
    auto* job = new TranscribeJob(env, std::move(transcriber), std::move(samples), std::move(options), std::move(stop));
    const Napi::Promise promise = job->deferred_.Promise();
    job->call_ = Call::New(env, on_segment, "quern transcribe", 0, 1, job);
    watch(env, job);
    try {
      job->thread_ = std::thread([job] { job->run(); });
    } catch (const std::exception&) {
      job->failure_.emplace("busy", "No thread is left to transcribe; try again when others have ended.");
      job->call_.NonBlockingCall(static_cast<Segment*>(nullptr));
    }
    return promise;
  }

 private:
  static void on_call(Napi::Env env, Napi::Function on_segment, TranscribeJob* job, Segment* told) {
    const std::unique_ptr<Segment> segment(told);
    if (env == nullptr) return;
    if (!segment)
      job->settle(env);
    else if (!job->stop_->load())
      on_segment.Call({segment_object(env, *segment, job->options_.words)});
  }
  using Call = Napi::TypedThreadSafeFunction<TranscribeJob, Segment, &TranscribeJob::on_call>;

  TranscribeJob(Napi::Env env, std::shared_ptr<Transcriber> transcriber, std::vector<float> samples,
                TranscribeOptions options, std::shared_ptr<std::atomic<bool>> stop)
      : transcriber_(std::move(transcriber)),
        samples_(std::move(samples)),
        options_(std::move(options)),
        stop_(std::move(stop)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  void end() override {
    *stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void run() {
    try {
      language_ = transcriber_->transcribe(
          samples_, options_,
          [this](Segment segment) {
            auto told = std::make_unique<Segment>(std::move(segment));
            if (call_.NonBlockingCall(told.get()) == napi_ok) told.release();
          },
          *stop_);
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const std::bad_alloc&) {
      failure_.emplace("busy", "There is not enough memory to transcribe; try again later.");
    } catch (const std::exception& error) {
      failure_.emplace("model_failed", std::string("The transcription broke: ") + error.what());
    }
    // The last user of a closed model frees it here, not on the JavaScript thread.
    transcriber_.reset();
    call_.NonBlockingCall(static_cast<Segment*>(nullptr));
  }

  void settle(Napi::Env env) {
    const std::unique_ptr<TranscribeJob> self(this);
    if (thread_.joinable()) thread_.join();
    unwatch(env, this);
    call_.Release();
    if (failure_)
      reject(env, deferred_, *failure_);
    else
      deferred_.Resolve(Napi::String::New(env, language_));
  }

  std::shared_ptr<Transcriber> transcriber_;
  const std::vector<float> samples_;
  const TranscribeOptions options_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  Napi::Promise::Deferred deferred_;
  Call call_;
  std::string language_;
  std::optional<Failure> failure_;
  std::thread thread_;
};

}  // namespace

void TranscriberObject::define(Napi::Env env, Napi::Object exports) {
  using Self = TranscriberObject;
  define_class<Self>(env, kClass,
                     {InstanceMethod<&Self::transcribe>("transcribe"), InstanceMethod<&Self::stop>("stop"),
                      InstanceMethod<&Self::close>("close")});
  exports.Set("openTranscriber", Napi::Function::New<open>(env, "openTranscriber"));
}

Napi::Value TranscriberObject::open(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (devices().empty())
      throw Failure("unavailable", "No backend is loaded; call loadBackends() before openTranscriber().");
    using Opened = std::shared_ptr<Transcriber>;
    return Task<Opened>::run(
        info.Env(),
        [file = path(info[0], "path"), options = transcriber_options(info[1])] {
          return std::make_shared<Transcriber>(file, options);
        },
        [](Napi::Env env, Opened& opened) -> Napi::Value {
          return make_object(env, kClass, {Napi::External<Opened>::New(env, &opened)});
        });
  });
}

TranscriberObject::TranscriberObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsExternal())
    throw to_error(env, "internal", "A transcriber is made by openTranscriber() only.");
  transcriber_ = std::move(*info[0].As<Napi::External<std::shared_ptr<Transcriber>>>().Data());
  const WhisperShape& shape = transcriber_->shape();
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("multilingual", shape.multilingual());
  self.Set("audioLayers", shape.audio_layers);
  self.Set("textLayers", shape.text_layers);
}

Napi::Value TranscriberObject::transcribe(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (!transcriber_) throw Failure("unavailable", "The model is closed.");
    auto samples = float32_array(info[0], "samples");
    auto options = transcribe_options(info[1]);
    auto on_segment = function(info[2], "onSegment");
    stop_ = std::make_shared<std::atomic<bool>>(false);
    return TranscribeJob::start(info.Env(), transcriber_, std::move(samples), std::move(options), stop_, on_segment);
  });
}

Napi::Value TranscriberObject::stop(const Napi::CallbackInfo& info) {
  if (stop_) *stop_ = true;
  return info.Env().Undefined();
}

Napi::Value TranscriberObject::close(const Napi::CallbackInfo& info) {
  if (stop_) *stop_ = true;
  return run_task(info.Env(), [transcriber = std::exchange(transcriber_, nullptr)] {});
}

}  // namespace quern::binding
