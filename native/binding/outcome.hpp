#pragma once

#include <napi.h>

#include <functional>
#include <optional>

#include "failures.hpp"

namespace quern::binding {

/// What a call off the JavaScript thread came to: computed on one thread, then settled on the JavaScript thread.
template <typename Result>
class Outcome {
 public:
  using Work = std::function<Result()>;
  using Answer = std::function<Napi::Value(Napi::Env, Result&)>;

  /// Keeps what `work` returns or throws, and lets go of it: what it holds may be large.
  void compute(Work& work) {
    try {
      result_.emplace(work());
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const std::bad_alloc&) {
      failure_.emplace("busy", "There is not enough memory for this call.");
    } catch (const std::exception& error) {
      failure_.emplace("internal", error.what());
    }
    work = nullptr;
  }

  void fail(const Failure& failure) { failure_ = failure; }

  void settle(Napi::Env env, const Napi::Promise::Deferred& deferred, const Answer& answer) {
    try {
      if (failure_)
        reject(env, deferred, *failure_);
      else
        deferred.Resolve(answer(env, *result_));
    } catch (const Napi::Error& error) {
      deferred.Reject(error.Value());
    }
  }

 private:
  std::optional<Result> result_;
  std::optional<Failure> failure_;
};

}  // namespace quern::binding
