#pragma once

#include <napi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "failures.hpp"

namespace quern::binding {

// Each takes a value that may be anything and throws Failure('invalid') with its name when it is not what is required.
Napi::Object object(const Napi::Value& value, const std::string& name);
int32_t integer(const Napi::Value& value, const std::string& name);
double number(const Napi::Value& value, const std::string& name);
bool boolean(const Napi::Value& value, const std::string& name);
/// From `least` to `most`, which is at most 2^53; `required` is what the refusal calls it.
uint64_t whole(const Napi::Value& value, const std::string& name, uint64_t least, uint64_t most,
               const char* required = "an integer");
/// The field of an object, or what stands for a missing one.
uint64_t whole_or(const Napi::Object& from, const char* name, uint64_t least, uint64_t most, uint64_t missing);
bool boolean_or(const Napi::Object& from, const char* name, bool missing);
std::string text(const Napi::Value& value, const std::string& name);
Napi::Function function(const Napi::Value& value, const std::string& name);
/// Copies; a transferred array counts as empty.
std::vector<int32_t> int32_array(const Napi::Value& value, const std::string& name);
std::vector<float> float32_array(const Napi::Value& value, const std::string& name);
/// The same of at most `most` numbers, else Failure('too_large').
std::vector<float> float32_array(const Napi::Value& value, const std::string& name, size_t most);
std::vector<uint32_t> uint32_array(const Napi::Value& value, const std::string& name);
std::vector<uint8_t> uint8_array(const Napi::Value& value, const std::string& name);
// Borrow, for the time of a synchronous call that runs no JavaScript.
std::span<const float> float32_view(const Napi::Value& value, const std::string& name);
std::span<const uint8_t> uint8_view(const Napi::Value& value, const std::string& name);
/// Numbers copied from one call, on the JavaScript thread: 1 MiB takes about 0.1 ms.
inline constexpr size_t kMostNumbers = size_t{1} << 18;
/// A BigInt from 0 to 2^64 - 1.
uint64_t unsigned_64(const Napi::Value& value, const std::string& name);
std::vector<std::string> texts(const Napi::Value& value, const std::string& name);
/// A path: not empty, no NUL byte.
std::string path(const Napi::Value& value, const std::string& name);

}  // namespace quern::binding
