#pragma once

#include <napi.h>

#include <functional>
#include <utility>

#include "outcome.hpp"

namespace quern::binding {

/**
 * One call on the thread pool with the promise that it settles. `work` runs off the JavaScript thread and must own all
 * that it reads: a JavaScript array may be transferred away at any moment. `answer` makes the value, on the JavaScript
 * thread. Deletes itself.
 */
template <typename Result>
class Task : public Napi::AsyncWorker {
 public:
  using Work = typename Outcome<Result>::Work;
  using Answer = typename Outcome<Result>::Answer;
  using Back = std::function<void()>;

  /// `back` is called on the JavaScript thread, before the promise settles.
  static Napi::Promise run(Napi::Env env, Work work, Answer answer, Back back = {}) {
    auto* task = new Task(env, std::move(work), std::move(answer), std::move(back));
    const Napi::Promise promise = task->deferred_.Promise();
    task->Queue();
    return promise;
  }

 private:
  Task(Napi::Env env, Work work, Answer answer, Back back)
      : AsyncWorker(env),
        work_(std::move(work)),
        answer_(std::move(answer)),
        back_(std::move(back)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  void Execute() override { outcome_.compute(work_); }

  void OnOK() override {
    const Napi::HandleScope scope(Env());
    if (back_) back_();
    outcome_.settle(Env(), deferred_, answer_);
  }

  Work work_;
  Answer answer_;
  Back back_;
  Outcome<Result> outcome_;
  Napi::Promise::Deferred deferred_;
};

/// A call whose promise answers nothing; `back` as of a Task.
inline Napi::Promise run_task(Napi::Env env, std::function<void()> work, Task<bool>::Back back = {}) {
  return Task<bool>::run(
      env,
      [work = std::move(work)]() mutable {
        // What it holds may be large, so it goes here.
        std::exchange(work, nullptr)();
        return true;
      },
      [](Napi::Env at, bool&) { return at.Undefined(); }, std::move(back));
}

}  // namespace quern::binding
