#include "arguments.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace quern::binding {
namespace {

[[noreturn]] void refuse(const std::string& name, const char* required) {
  throw Failure("invalid", name + " must be " + required + ".");
}

template <typename Item>
std::span<const Item> view_array(const Napi::Value& value, const std::string& name, napi_typedarray_type type,
                                 const char* required) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) refuse(name, required);
  auto array = value.As<Napi::TypedArrayOf<Item>>();
  const size_t count = array.ElementLength();
  const Item* from = count == 0 ? nullptr : array.Data();
  return from == nullptr ? std::span<const Item>() : std::span<const Item>(from, count);
}

template <typename Item>
std::vector<Item> copy_array(const Napi::Value& value, const std::string& name, napi_typedarray_type type,
                             const char* required) {
  const std::span<const Item> items = view_array<Item>(value, name, type, required);
  return {items.begin(), items.end()};
}

}  // namespace

Napi::Object object(const Napi::Value& value, const std::string& name) {
  if (!value.IsObject() || value.IsFunction()) refuse(name, "an object");
  return value.As<Napi::Object>();
}

double number(const Napi::Value& value, const std::string& name) {
  if (!value.IsNumber()) refuse(name, "a number");
  const double given = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(given)) refuse(name, "a finite number");
  return given;
}

int32_t integer(const Napi::Value& value, const std::string& name) {
  const double given = number(value, name);
  if (given != std::floor(given)) refuse(name, "an integer");
  if (given < std::numeric_limits<int32_t>::min() || given > std::numeric_limits<int32_t>::max())
    refuse(name, "an integer of 32 bits");
  return static_cast<int32_t>(given);
}

bool boolean(const Napi::Value& value, const std::string& name) {
  if (!value.IsBoolean()) refuse(name, "true or false");
  return value.As<Napi::Boolean>().Value();
}

uint64_t whole(const Napi::Value& value, const std::string& name, uint64_t least, uint64_t most, const char* required) {
  const double given = number(value, name);
  if (given != std::floor(given) || given < static_cast<double>(least) || given > static_cast<double>(most))
    throw Failure("invalid", name + " must be " + required + " from " + std::to_string(least) + " to " +
                                 std::to_string(most) + ".");
  return static_cast<uint64_t>(given);
}

uint64_t whole_or(const Napi::Object& from, const char* name, uint64_t least, uint64_t most, uint64_t missing) {
  const Napi::Value value = from.Get(name);
  return value.IsUndefined() ? missing : whole(value, name, least, most);
}

bool boolean_or(const Napi::Object& from, const char* name, bool missing) {
  const Napi::Value value = from.Get(name);
  return value.IsUndefined() ? missing : boolean(value, name);
}

std::string text(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) refuse(name, "a string");
  return value.As<Napi::String>().Utf8Value();
}

Napi::Function function(const Napi::Value& value, const std::string& name) {
  if (!value.IsFunction()) refuse(name, "a function");
  return value.As<Napi::Function>();
}

std::vector<int32_t> int32_array(const Napi::Value& value, const std::string& name) {
  return copy_array<int32_t>(value, name, napi_int32_array, "an Int32Array");
}

std::vector<float> float32_array(const Napi::Value& value, const std::string& name) {
  return copy_array<float>(value, name, napi_float32_array, "a Float32Array");
}

std::vector<float> float32_array(const Napi::Value& value, const std::string& name, size_t most) {
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().ElementLength() > most)
    throw Failure("too_large", name + " has more than " + std::to_string(most) + " numbers; use several calls.");
  return float32_array(value, name);
}

std::vector<uint32_t> uint32_array(const Napi::Value& value, const std::string& name) {
  return copy_array<uint32_t>(value, name, napi_uint32_array, "a Uint32Array");
}

std::vector<uint8_t> uint8_array(const Napi::Value& value, const std::string& name) {
  return copy_array<uint8_t>(value, name, napi_uint8_array, "a Uint8Array");
}

std::span<const float> float32_view(const Napi::Value& value, const std::string& name) {
  return view_array<float>(value, name, napi_float32_array, "a Float32Array");
}

std::span<const uint8_t> uint8_view(const Napi::Value& value, const std::string& name) {
  return view_array<uint8_t>(value, name, napi_uint8_array, "a Uint8Array");
}

uint64_t unsigned_64(const Napi::Value& value, const std::string& name) {
  bool lossless = false;
  const uint64_t given = value.IsBigInt() ? value.As<Napi::BigInt>().Uint64Value(&lossless) : 0;
  if (!lossless) refuse(name, "a bigint from 0 to 2^64 - 1");
  return given;
}

std::vector<std::string> texts(const Napi::Value& value, const std::string& name) {
  if (!value.IsArray()) refuse(name, "an array of strings");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<std::string> all;
  for (uint32_t i = 0; i < array.Length(); ++i) all.push_back(path(array.Get(i), name + "[" + std::to_string(i) + "]"));
  return all;
}

std::string path(const Napi::Value& value, const std::string& name) {
  std::string given = text(value, name);
  if (given.empty() || given.find('\0') != std::string::npos) refuse(name, "a path without a NUL character");
  return given;
}

}  // namespace quern::binding
