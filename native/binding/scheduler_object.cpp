#include "scheduler_object.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arguments.hpp"
#include "facts.hpp"
#include "inference_arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

constexpr const char* kClass = "Scheduler";

template <typename Array, typename Item>
Array to_array(Napi::Env env, const Item* items, size_t count) {
  Array array = Array::New(env, count);
  if (count > 0) std::memcpy(array.Data(), items, count * sizeof(Item));
  return array;
}

}  // namespace

/// Joins the worker and frees context and weights on a pool thread, then hands over the last rows.
class SchedulerObject::Closing : public Napi::AsyncWorker {
 public:
  Closing(Napi::Env env, SchedulerObject& object)
      : AsyncWorker(env),
        object_(object),
        keep_(Napi::Persistent(object.Value())),
        scheduler_(std::move(object.scheduler_)),
        model_(std::move(object.model_)),
        deferred_(Napi::Promise::Deferred::New(env)) {
    object.freed_ = freed_.get_future();
  }

  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    scheduler_->stop();
    scheduler_->take(object_.frame_);
    scheduler_.reset();
    model_.reset();
    freed_.set_value();
  }

  void OnOK() override {
    object_.deliver(Env(), object_.callback_.Value());
    if (!object_.released_) object_.release(Env());
    // The callback reaches this object again; held any longer, neither could be collected.
    object_.callback_.Reset();
    deferred_.Resolve(Env().Undefined());
  }

 private:
  SchedulerObject& object_;
  Napi::ObjectReference keep_;
  std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<const Model> model_;
  std::promise<void> freed_;
  Napi::Promise::Deferred deferred_;
};

void SchedulerObject::define(Napi::Env env) {
  using Self = SchedulerObject;
  define_class<Self>(
      env, kClass,
      {InstanceMethod<&Self::tokenize>("tokenize"), InstanceMethod<&Self::tokenize_long>("tokenizeLong"),
       InstanceMethod<&Self::token_bytes>("tokenBytes"),
       InstanceMethod<&Self::is_end_of_generation>("isEndOfGeneration"), InstanceMethod<&Self::submit>("submit"),
       InstanceMethod<&Self::abort>("abort"), InstanceMethod<&Self::stats>("stats"),
       InstanceMethod<&Self::save_state>("saveState"), InstanceMethod<&Self::restore_state>("restoreState"),
       InstanceMethod<&Self::drop_state>("dropState"), InstanceMethod<&Self::load_adapter>("loadAdapter"),
       InstanceMethod<&Self::drop_adapter>("dropAdapter"), InstanceMethod<&Self::close>("close")});
}

Napi::Value SchedulerObject::make(Napi::Env env, Opened& opened, Napi::Function on_step) {
  return make_object(env, kClass, {Napi::External<Opened>::New(env, &opened), on_step});
}

SchedulerObject::SchedulerObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsExternal())
    throw to_error(env, "internal", "A scheduler is made by open() only.");
  auto& opened = *info[0].As<Napi::External<Opened>>().Data();
  const Napi::Function callback = info[1].As<Napi::Function>();
  model_ = std::move(opened.model);
  callback_ = Napi::Persistent(callback);
  step_call_ = StepCall::New(env, callback, "quern steps", 0, 1, this);
  step_call_.Unref(env);
  const SchedulerOptions options = opened.decoder->effective();
  const int state_streams = opened.decoder->state_streams();
  context_size_ = options.context_size;
  const Model* vocabulary = model_.get();
  SchedulerParts parts{.traits = opened.decoder->traits(), .pace = opened.decoder->pace()};
  parts.decoder = std::move(opened.decoder);
  parts.ends_generation = [vocabulary](Token token) { return vocabulary->ends_generation(token); };
  parts.notify = [this] { step_call_.NonBlockingCall(); };
  scheduler_ = std::make_shared<Scheduler>(std::move(parts), options);
  watch(env, this);
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("info", facts_object(env, model_->facts()));
  self.Set("contextSize", context_size_);
  self.Set("stateStreams", state_streams);
}

SchedulerObject::~SchedulerObject() {
  if (scheduler_) scheduler_->stop();
  if (!released_) release(Env());
}

void SchedulerObject::release(Napi::Env env) {
  released_ = true;
  unwatch(env, this);
  step_call_.Release();
}

void SchedulerObject::end() {
  // The step call frees itself with the environment.
  released_ = true;
  if (scheduler_) scheduler_->stop();
  if (freed_.valid()) freed_.wait();
}

void SchedulerObject::on_step(Napi::Env env, Napi::Function callback, SchedulerObject* self, void*) {
  // While it closes, the rows go with the last delivery.
  if (env == nullptr || self == nullptr || self->released_ || !self->scheduler_) return;
  self->scheduler_->take(self->frame_);
  self->deliver(env, callback);
}

void SchedulerObject::deliver(Napi::Env env, Napi::Function callback) {
  if (frame_.rows.empty()) return;
  for (const StepRow& row : frame_.rows) {
    if (row.finish == 0 || --outstanding_ > 0) continue;
    step_call_.Unref(env);
    Unref();
  }
  constexpr size_t kFields = sizeof(StepRow) / sizeof(int32_t);
  const auto* fields = reinterpret_cast<const int32_t*>(frame_.rows.data());
  callback.Call({to_array<Napi::Int32Array>(env, fields, frame_.rows.size() * kFields),
                 to_array<Napi::Float64Array>(env, frame_.logprobs.data(), frame_.logprobs.size()),
                 Napi::String::New(env, frame_.error)});
}

void SchedulerObject::require_open() const {
  if (!scheduler_) throw Failure("unavailable", "The model is closed.");
}

Napi::Value SchedulerObject::tokenize(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const auto tokens =
        model_->tokenize(text(info[0], "text"), boolean(info[1], "addSpecial"), boolean(info[2], "parseSpecial"));
    return to_array<Napi::Int32Array>(info.Env(), tokens.data(), tokens.size());
  });
}

Napi::Value SchedulerObject::tokenize_long(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const bool add_special = boolean(info[1], "addSpecial");
    const bool parse_special = boolean(info[2], "parseSpecial");
    return Task<std::vector<Token>>::run(
        info.Env(),
        [model = model_, text = text(info[0], "text"), add_special, parse_special] {
          return model->tokenize(text, add_special, parse_special);
        },
        [](Napi::Env env, const std::vector<Token>& tokens) -> Napi::Value {
          return to_array<Napi::Int32Array>(env, tokens.data(), tokens.size());
        });
  });
}

Napi::Value SchedulerObject::token_bytes(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const std::string bytes = model_->token_bytes(integer(info[0], "token"), boolean(info[1], "special"));
    return to_array<Napi::Uint8Array>(info.Env(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  });
}

Napi::Value SchedulerObject::is_end_of_generation(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    return Napi::Boolean::New(info.Env(), model_->ends_generation(integer(info[0], "token")));
  });
}

void SchedulerObject::submit(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] {
    require_open();
    const int32_t id = integer(info[0], "id");
    if (id < 0) throw Failure("invalid", "id is " + std::to_string(id) + "; it must be 0 or more.");
    auto tokens = int32_array(info[1], "tokens");
    const GenerateOptions options = generate_options(info[2]);
    const int vocabulary = model_->facts().vocabulary_size;
    check_tokens("tokens", tokens, vocabulary, static_cast<size_t>(context_size_));
    check(options, vocabulary);
    auto constraint = options.grammar.empty() ? nullptr : model_->grammar(options.grammar);
    scheduler_->submit(id, std::move(tokens), options, std::move(constraint));
    if (outstanding_++ > 0) return;
    step_call_.Ref(info.Env());
    Ref();
  });
}

void SchedulerObject::abort(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] {
    require_open();
    scheduler_->abort(integer(info[0], "id"));
  });
}

Napi::Value SchedulerObject::stats(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const SchedulerStats stats = scheduler_->stats();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("active", stats.active);
    object.Set("queued", stats.queued);
    object.Set("steps", static_cast<double>(stats.steps));
    object.Set("decodedTokens", static_cast<double>(stats.decoded_tokens));
    object.Set("prefilledTokens", static_cast<double>(stats.prefilled_tokens));
    object.Set("reusedTokens", static_cast<double>(stats.reused_tokens));
    object.Set("kvUsed", static_cast<double>(stats.kv_used));
    return object;
  });
}

Napi::Value SchedulerObject::close(const Napi::CallbackInfo& info) {
  if (!closing_.IsEmpty()) return closing_.Value();
  auto* closing = new Closing(info.Env(), *this);
  closing_ = Napi::Reference<Napi::Promise>::New(closing->promise(), 1);
  closing->Queue();
  return closing_.Value();
}

}  // namespace quern::binding
