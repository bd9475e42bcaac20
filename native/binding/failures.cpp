#include "failures.hpp"

#include "arguments.hpp"
#include "lifetime.hpp"

namespace quern::binding {
namespace {

void install(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] { AddonState::of(info.Env()).failure = Napi::Persistent(function(info[0], "failure")); });
}

/// `promise.then(step)`.
Napi::Object then(const Napi::Object& promise, const Napi::Function& step) {
  return promise.Get("then").As<Napi::Function>().Call(promise, {step}).As<Napi::Object>();
}

}  // namespace

void define_install(Napi::Env env, Napi::Object exports) {
  exports.Set("install", Napi::Function::New<install>(env, "install"));
}

Napi::Error to_error(Napi::Env env, const char* kind, const std::string& message) {
  const Napi::FunctionReference& failure = AddonState::of(env).failure;
  if (failure.IsEmpty()) return Napi::Error::New(env, message);
  return {env, failure.New({Napi::String::New(env, kind), Napi::String::New(env, message)})};
}

Napi::Promise resolved(Napi::Env env, const Napi::Value& value) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Resolve(value);
  return deferred.Promise();
}

Napi::Promise rejected(Napi::Env env, const Napi::Error& error) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Reject(error.Value());
  return deferred.Promise();
}

void reject(Napi::Env env, const Napi::Promise::Deferred& deferred, const Failure& failure) {
  try {
    // V8 follows a promise to the functions that wait for it from a job of that promise only, and only once the promise
    // is linked to theirs, which takes the job before.
    const auto link = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
    const auto raise = Napi::Function::New(env, [failure](const Napi::CallbackInfo& info) -> Napi::Value {
      throw to_error(info.Env(), failure.kind(), failure.what());
    });
    deferred.Resolve(then(then(resolved(env, env.Undefined()), link), raise));
  } catch (const Napi::Error&) {
    // The thread is being terminated, and nobody waits any more.
  }
}

}  // namespace quern::binding
