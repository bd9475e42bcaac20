#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "../threads/behind.hpp"
#include "../threads/turns.hpp"
#include "lifetime.hpp"
#include "outcome.hpp"

namespace quern::binding {

/**
 * A call of seconds, on another thread than the pool's, behind all others, with the promise that it settles. In the
 * `background` it only gets what nothing else wants of the cores. `work` must own all that it reads and end soon
 * after `stop` was called, which the exit of the process does too. Deletes itself.
 */
template <typename Result>
class ThreadTask : private Living {
 public:
  using Work = typename Outcome<Result>::Work;
  using Stop = std::function<void()>;
  using Answer = typename Outcome<Result>::Answer;

  static Napi::Promise run(Napi::Env env, const char* name, Work work, Stop stop, Answer answer,
                           bool background = false) {
    auto* task = new ThreadTask(env, name, std::move(stop), std::move(answer), background);
    const Napi::Promise promise = task->deferred_.Promise();
    task->begin(std::move(work));
    return promise;
  }

 private:
  ThreadTask(Napi::Env env, const char* name, Stop stop, Answer answer, bool background)
      : env_(env),
        stop_(std::move(stop)),
        answer_(std::move(answer)),
        background_(background),
        deferred_(Napi::Promise::Deferred::New(env)) {
    const auto nothing = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
    call_ =
        Napi::ThreadSafeFunction::New(env, nothing, name, 0, 1, this, [](Napi::Env, ThreadTask* task) { delete task; });
    watch(env, this);
  }

  void begin(Work work) {
    try {
      // The event loop waits for the end of what delivers, and must not wait for an idle core.
      if (background_)
        behind_ =
            run_behind([this, work = std::move(work)]() mutable { outcome_.compute(work); }, [this] { deliver(); });
      else
        thread_ = std::thread([this, work = std::move(work)]() mutable { compute(std::move(work)); });
    } catch (const std::exception&) {  // there is no thread for it, or no memory for one
      outcome_.fail(Failure("busy", "No thread is left for this call; try again when others have ended."));
      deliver();
    }
  }

  void compute(Work work) {
    give_way();
    outcome_.compute(work);
    deliver();
  }

  /// Waits until the thread is through, if there is one.
  void join() {
    if (thread_.joinable()) thread_.join();
    if (behind_.valid()) behind_.get();
  }

  void deliver() {
    call_.NonBlockingCall(this, [](Napi::Env env, Napi::Function, ThreadTask* task) {
      if (static_cast<napi_env>(env) != nullptr && !task->ended_) task->settle();
    });
  }

  void settle() {
    join();
    unwatch(env_, this);
    ended_ = true;
    outcome_.settle(env_, deferred_, answer_);
    call_.Release();
  }

  void end() override {
    ended_ = true;
    stop_();
    join();
  }

  const Napi::Env env_;
  Stop stop_;
  Answer answer_;
  const bool background_;
  Outcome<Result> outcome_;
  Napi::Promise::Deferred deferred_;
  Napi::ThreadSafeFunction call_;
  std::thread thread_;
  std::future<void> behind_;  ///< in the background, in place of `thread_`
  bool ended_ = false;        ///< settled, or the environment ends; read and written on the JavaScript thread
};

}  // namespace quern::binding
