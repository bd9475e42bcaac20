#pragma once

#include <napi.h>

#include <future>
#include <memory>
#include <string>

#include "../inference/llama_decoder.hpp"
#include "../inference/model.hpp"
#include "../inference/scheduler.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/// What a finished load hands to the object.
struct Opened {
  std::shared_ptr<const Model> model;
  std::unique_ptr<LlamaDecoder> decoder;
};

/// NativeScheduler of native/contract.ts. Lives on the JavaScript thread; only wake() runs on the worker.
class SchedulerObject : public Napi::ObjectWrap<SchedulerObject>, private Living {
 public:
  static void define(Napi::Env env);
  /// The object of a finished load; `on_step` gets its rows.
  static Napi::Value make(Napi::Env env, Opened& opened, Napi::Function on_step);
  /// Arguments: External<Opened>, the step callback.
  explicit SchedulerObject(const Napi::CallbackInfo& info);
  ~SchedulerObject() override;
  SchedulerObject(const SchedulerObject&) = delete;
  SchedulerObject& operator=(const SchedulerObject&) = delete;

 private:
  class Closing;
  static void on_step(Napi::Env env, Napi::Function callback, SchedulerObject* self, void* nothing);
  using StepCall = Napi::TypedThreadSafeFunction<SchedulerObject, void, &SchedulerObject::on_step>;
  void end() override;

  Napi::Value tokenize(const Napi::CallbackInfo& info);
  Napi::Value tokenize_long(const Napi::CallbackInfo& info);
  Napi::Value token_bytes(const Napi::CallbackInfo& info);
  Napi::Value is_end_of_generation(const Napi::CallbackInfo& info);
  void submit(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value save_state(const Napi::CallbackInfo& info);
  Napi::Value restore_state(const Napi::CallbackInfo& info);
  Napi::Value drop_state(const Napi::CallbackInfo& info);
  Napi::Value load_adapter(const Napi::CallbackInfo& info);
  Napi::Value drop_adapter(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  /// Throws Failure('unavailable') when close() was called.
  void require_open() const;
  void deliver(Napi::Env env, Napi::Function callback);
  void release(Napi::Env env);

  std::shared_ptr<const Model> model_;
  std::shared_ptr<Scheduler> scheduler_;  ///< empty once close() was called; tasks on the pool hold it too
  std::shared_ptr<StateShelf> shelf_ = std::make_shared<StateShelf>();
  int context_size_ = 0;
  StepCall step_call_;
  Napi::FunctionReference callback_;
  Napi::Reference<Napi::Promise> closing_;
  std::future<void> freed_;  ///< ready once a close() has freed everything
  StepFrame frame_;
  size_t outstanding_ =
      0;  ///< generations whose last row was not delivered; the event loop and this object live for them
  bool released_ = false;  ///< the step call is gone: closed, or the environment ends
};

}  // namespace quern::binding
