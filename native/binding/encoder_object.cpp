#include "encoder_object.hpp"

#include <string>
#include <utility>
#include <vector>

#include "../encoder/limits.hpp"
#include "arguments.hpp"
#include "arrays.hpp"
#include "encoder_source.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using encoder::Encoder;

constexpr const char* kClass = "Encoder";
/// Calls that wait for the one that runs.
constexpr size_t kMostWaiting = 1024;

/// An array of one number per token at most; a longer one is refused before it is copied.
std::vector<int32_t> tokens(const Napi::Value& value, const std::string& name) {
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().ElementLength() > encoder::kMostTokens)
    throw Failure("too_large", name + " has " + std::to_string(value.As<Napi::TypedArray>().ElementLength()) +
                                   " numbers; allowed are " + std::to_string(encoder::kMostTokens) + " in one call.");
  return int32_array(value, name);
}

/// The arrays of a call, copied.
struct Call {
  explicit Call(const Napi::CallbackInfo& info)
      : ids(tokens(info[0], "ids")),
        lengths(tokens(info[1], "lengths")),
        types(info[2].IsUndefined() ? std::vector<int32_t>() : tokens(info[2], "types")) {}

  std::vector<int32_t> ids, lengths, types;
};

size_t threads_in(const Napi::Value& options) {
  if (options.IsUndefined()) return 1;
  const Napi::Value threads = object(options, "options").Get("threads");
  if (threads.IsUndefined()) return 1;
  const int32_t given = integer(threads, "threads");
  if (given < 1 || static_cast<size_t>(given) > encoder::kMostThreads)
    throw Failure("invalid", "threads is " + std::to_string(given) + "; allowed is 1 to " +
                                 std::to_string(encoder::kMostThreads) + ".");
  return static_cast<size_t>(given);
}

}  // namespace

struct EncoderObject::Waiting {
  Call call;
  Napi::Promise::Deferred deferred;
};

void EncoderObject::define(Napi::Env env, Napi::Object exports) {
  using Self = EncoderObject;
  define_class<Self>(env, kClass,
                     {InstanceMethod<&Self::run>("run"), InstanceMethod<&Self::run_now>("runNow"),
                      InstanceMethod<&Self::close>("close")});
  define_opener(env, exports, "openEncoder", kClass);
}

EncoderObject::EncoderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] {
    const encoder::Shape shape = encoder_shape(info[0]);
    const size_t threads = threads_in(info[2]);
    encoder_ = std::make_shared<Encoder>(shape, encoder_source(info[1]), threads);
    ending_ = encoder_;
  });
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("bytes", static_cast<double>(encoder_->bytes()));
  self.Set("outputs", static_cast<double>(encoder_->outputs()));
  watch(info.Env(), this);
  watched_ = true;
}

EncoderObject::~EncoderObject() {
  if (watched_) unwatch(Env(), this);
}

void EncoderObject::end() {
  watched_ = false;
  if (const auto running = ending_.lock()) running->stop();
}

Napi::Value EncoderObject::run(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (!encoder_) throw Failure("unavailable", "This encoder is closed.");
    if (waiting_.size() >= kMostWaiting)
      throw Failure("busy",
                    std::to_string(kMostWaiting) + " calls wait for this encoder; try again when some have ended.");
    const Napi::Promise::Deferred deferred = Napi::Promise::Deferred::New(info.Env());
    waiting_.push_back({Call(info), deferred});
    if (!busy_) next(info.Env());
    return deferred.Promise();
  });
}

Napi::Value EncoderObject::run_now(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    if (!encoder_) throw Failure("unavailable", "This encoder is closed.");
    if (busy_) throw Failure("busy", "This encoder runs a call on the pool; wait for it.");
    const Call call(info);
    return to_array<Napi::Float32Array>(info.Env(), encoder_->run({call.ids, call.lengths, call.types}));
  });
}

void EncoderObject::next(Napi::Env env) {
  busy_ = !waiting_.empty();
  if (!busy_) return;
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  // The object stays until the call has settled, for those that wait behind it.
  const auto kept = std::make_shared<Napi::ObjectReference>(Napi::Persistent(Value()));
  const Napi::Promise done = Task<std::vector<float>>::run(
      env,
      [encoder = encoder_, call = std::move(waiting.call)] {
        return encoder->run({call.ids, call.lengths, call.types});
      },
      [](Napi::Env at, std::vector<float>& results) -> Napi::Value {
        return to_array<Napi::Float32Array>(at, std::move(results));
      },
      [this, kept, env] { next(env); });
  waiting.deferred.Resolve(done);
}

Napi::Value EncoderObject::close(const Napi::CallbackInfo& info) {
  encoder_.reset();
  std::deque<Waiting> refused = std::exchange(waiting_, {});
  for (const Waiting& waiting : refused)
    reject(info.Env(), waiting.deferred, Failure("unavailable", "This encoder was closed."));
  return info.Env().Undefined();
}

}  // namespace quern::binding
