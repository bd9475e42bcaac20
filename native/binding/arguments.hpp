#pragma once

#include <napi.h>

#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../base/failure.hpp"

namespace quern::binding {

/// A JavaScript error with the name, kind and message from which addon.ts makes the class Failure.
Napi::Error to_error(Napi::Env env, const char* kind, const std::string& message);

/// Runs native code; what it throws becomes a JavaScript error.
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

// Each takes a value that may be anything and throws Failure('invalid') with its name when it is not what is required.
Napi::Object object(const Napi::Value& value, const std::string& name);
int32_t integer(const Napi::Value& value, const std::string& name);
double number(const Napi::Value& value, const std::string& name);
bool boolean(const Napi::Value& value, const std::string& name);
std::string text(const Napi::Value& value, const std::string& name);
Napi::Function function(const Napi::Value& value, const std::string& name);
/// Copies; a transferred array counts as empty.
std::vector<int32_t> int32_array(const Napi::Value& value, const std::string& name);
std::vector<float> float32_array(const Napi::Value& value, const std::string& name);
std::vector<uint32_t> uint32_array(const Napi::Value& value, const std::string& name);
std::vector<uint8_t> uint8_array(const Napi::Value& value, const std::string& name);
// Borrow, for the time of a synchronous call that runs no JavaScript.
std::span<const float> float32_view(const Napi::Value& value, const std::string& name);
std::span<const uint8_t> uint8_view(const Napi::Value& value, const std::string& name);
/// A BigInt from 0 to 2^64 - 1.
uint64_t unsigned_64(const Napi::Value& value, const std::string& name);
std::vector<std::string> texts(const Napi::Value& value, const std::string& name);
/// A path: not empty, no NUL byte.
std::string path(const Napi::Value& value, const std::string& name);

}  // namespace quern::binding
