#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "arguments.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/**
 * A call of seconds, on a thread of its own instead of the pool's, with the promise that it settles. `work` must own
 * all that it reads and end soon after `stop` was called, which the exit of the process does too. Deletes itself.
 */
template <typename Result>
class ThreadTask : private Living {
 public:
  using Work = std::function<Result()>;
  using Stop = std::function<void()>;
  using Answer = std::function<Napi::Value(Napi::Env, Result&)>;

  static Napi::Promise run(Napi::Env env, const char* name, Work work, Stop stop, Answer answer) {
    auto* task = new ThreadTask(env, name, std::move(stop), std::move(answer));
    const Napi::Promise promise = task->deferred_.Promise();
    task->begin(std::move(work));
    return promise;
  }

 private:
  ThreadTask(Napi::Env env, const char* name, Stop stop, Answer answer)
      : env_(env), stop_(std::move(stop)), answer_(std::move(answer)), deferred_(Napi::Promise::Deferred::New(env)) {
    const auto nothing = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
    call_ =
        Napi::ThreadSafeFunction::New(env, nothing, name, 0, 1, this, [](Napi::Env, ThreadTask* task) { delete task; });
    watch(env, this);
  }

  void begin(Work work) {
    try {
      thread_ = std::thread([this, work = std::move(work)]() mutable { compute(std::move(work)); });
    } catch (const std::system_error&) {
      failure_.emplace("busy", "No thread is left for this call; try again when others have ended.");
      deliver();
    }
  }

  void compute(Work work) {
    try {
      result_.emplace(work());
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const std::bad_alloc&) {
      failure_.emplace("busy", "There is not enough memory for this call.");
    } catch (const std::exception& error) {
      failure_.emplace("internal", error.what());
    }
    // What the work holds may be large; it need not wait for the JavaScript thread.
    work = nullptr;
    deliver();
  }

  void deliver() {
    call_.NonBlockingCall(this, [](Napi::Env env, Napi::Function, ThreadTask* task) {
      if (static_cast<napi_env>(env) != nullptr && !task->ended_) task->settle();
    });
  }

  void settle() {
    if (thread_.joinable()) thread_.join();
    unwatch(env_, this);
    ended_ = true;
    try {
      if (failure_)
        deferred_.Reject(to_error(env_, failure_->kind(), failure_->what()).Value());
      else
        deferred_.Resolve(answer_(env_, *result_));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    }
    call_.Release();
  }

  void end() override {
    if (!thread_.joinable()) return;
    ended_ = true;
    stop_();
    thread_.join();
  }

  const Napi::Env env_;
  Stop stop_;
  Answer answer_;
  std::optional<Result> result_;
  std::optional<Failure> failure_;
  Napi::Promise::Deferred deferred_;
  Napi::ThreadSafeFunction call_;
  std::thread thread_;
  bool ended_ = false;  ///< settled, or the environment ends; read and written on the JavaScript thread
};

}  // namespace quern::binding
