#pragma once

#include <napi.h>

#include <functional>
#include <optional>
#include <utility>

#include "arguments.hpp"

namespace quern::binding {

/**
 * One call on the thread pool with the promise that it settles. `work` runs off the JavaScript thread and must own all
 * that it reads: a JavaScript array may be transferred away at any moment. `answer` makes the value, on the JavaScript
 * thread. Deletes itself.
 */
template <typename Result>
class Task : public Napi::AsyncWorker {
 public:
  using Work = std::function<Result()>;
  using Answer = std::function<Napi::Value(Napi::Env, Result&)>;
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

  void Execute() override {
    try {
      result_.emplace(work_());
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const std::bad_alloc&) {
      failure_.emplace("busy", "There is not enough memory for this call.");
    } catch (const std::exception& error) {
      failure_.emplace("internal", error.what());
    }
    // What the work holds may be large; it need not wait for the JavaScript thread.
    work_ = nullptr;
  }

  void OnOK() override {
    const Napi::HandleScope scope(Env());
    if (back_) back_();
    try {
      if (failure_)
        deferred_.Reject(to_error(Env(), failure_->kind(), failure_->what()).Value());
      else
        deferred_.Resolve(answer_(Env(), *result_));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    }
  }

  Work work_;
  Answer answer_;
  Back back_;
  std::optional<Result> result_;
  std::optional<Failure> failure_;
  Napi::Promise::Deferred deferred_;
};

}  // namespace quern::binding
