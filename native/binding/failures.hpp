#pragma once

#include <napi.h>

#include <exception>
#include <string>
#include <utility>

#include "../base/failure.hpp"

namespace quern::binding {

/// Adds `install` to the exports, which takes the class Failure of schemas/errors.ts before anything else is called.
void define_install(Napi::Env env, Napi::Object exports);

/// An instance of that class.
Napi::Error to_error(Napi::Env env, const char* kind, const std::string& message);

/// Runs native code; what it throws becomes an error of JavaScript.
template <typename Function>
auto raising(Napi::Env env, Function&& function) -> decltype(function()) {
  try {
    return std::forward<Function>(function)();
  } catch (const Failure& failure) {
    throw to_error(env, failure.kind(), failure.what());
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw to_error(env, "internal", error.what());
  }
}

Napi::Promise resolved(Napi::Env env, const Napi::Value& value);
Napi::Promise rejected(Napi::Env env, const Napi::Error& error);

/// The same for native code that returns a promise: what it throws before there is one rejects that promise.
template <typename Function>
Napi::Value promising(Napi::Env env, Function&& function) {
  try {
    return raising(env, std::forward<Function>(function));
  } catch (const Napi::Error& error) {
    return rejected(env, error);
  }
}

/// Rejects a promise after the call that gave it has returned. The stack of the failure names the async functions that
/// wait for it.
void reject(Napi::Env env, const Napi::Promise::Deferred& deferred, const Failure& failure);

}  // namespace quern::binding
