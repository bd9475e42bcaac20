#include "arguments.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace quern::binding {
namespace {

[[noreturn]] void refuse(const std::string& name, const char* required) {
  throw Failure("invalid", name + " must be " + required + ".");
}

Napi::Object object(const Napi::Value& value, const char* name) {
  if (!value.IsObject() || value.IsFunction()) refuse(name, "an object");
  return value.As<Napi::Object>();
}

template <typename Array, typename Item>
std::vector<Item> copy_array(const Napi::Value& value, const std::string& name, napi_typedarray_type type,
                             const char* required) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) refuse(name, required);
  const Array array = value.As<Array>();
  const size_t count = array.ElementLength();
  const Item* from = count == 0 ? nullptr : array.Data();
  return from == nullptr ? std::vector<Item>() : std::vector<Item>(from, from + count);
}

uint32_t seed(const Napi::Value& value) {
  const double given = number(value, "seed");
  if (given != std::floor(given) || given < std::numeric_limits<int32_t>::min() ||
      given > std::numeric_limits<uint32_t>::max())
    refuse("seed", "an integer of 32 bits");
  return static_cast<uint32_t>(static_cast<int64_t>(given));
}

}  // namespace

Napi::Error to_error(Napi::Env env, const char* kind, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("name", "Failure");
  error.Set("kind", kind);
  return error;
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

std::string text(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) refuse(name, "a string");
  return value.As<Napi::String>().Utf8Value();
}

Napi::Function function(const Napi::Value& value, const std::string& name) {
  if (!value.IsFunction()) refuse(name, "a function");
  return value.As<Napi::Function>();
}

std::vector<int32_t> int32_array(const Napi::Value& value, const std::string& name) {
  return copy_array<Napi::Int32Array, int32_t>(value, name, napi_int32_array, "an Int32Array");
}

std::vector<float> float32_array(const Napi::Value& value, const std::string& name) {
  return copy_array<Napi::Float32Array, float>(value, name, napi_float32_array, "a Float32Array");
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

ModelOptions model_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "model");
  ModelOptions options{.gpu_layers = integer(from.Get("gpuLayers"), "gpuLayers"),
                       .mmap = boolean(from.Get("mmap"), "mmap"),
                       .mlock = boolean(from.Get("mlock"), "mlock")};
  check(options);
  return options;
}

SchedulerOptions scheduler_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "scheduler");
  const Napi::Value cells = from.Get("kvCells");
  SchedulerOptions options{.context_size = integer(from.Get("contextSize"), "contextSize"),
                           .slots = integer(from.Get("slots"), "slots"),
                           .batch = integer(from.Get("batch"), "batch"),
                           .ubatch = integer(from.Get("ubatch"), "ubatch"),
                           .threads = integer(from.Get("threads"), "threads"),
                           .prefill_chunk = integer(from.Get("prefillChunk"), "prefillChunk"),
                           .flash_attention = boolean(from.Get("flashAttention"), "flashAttention"),
                           .cache_type_k = text(from.Get("cacheTypeK"), "cacheTypeK"),
                           .cache_type_v = text(from.Get("cacheTypeV"), "cacheTypeV"),
                           .unified_kv = boolean(from.Get("unifiedKv"), "unifiedKv"),
                           .kv_cells = cells.IsUndefined() ? 0 : integer(cells, "kvCells")};
  check(options);
  return options;
}

GenerateOptions generate_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "options");
  const auto real = [&from](const char* name) { return static_cast<float>(number(from.Get(name), name)); };
  return {.max_tokens = integer(from.Get("maxTokens"), "maxTokens"),
          .temperature = real("temperature"),
          .top_k = integer(from.Get("topK"), "topK"),
          .top_p = real("topP"),
          .min_p = real("minP"),
          .repeat_penalty = real("repeatPenalty"),
          .presence_penalty = real("presencePenalty"),
          .frequency_penalty = real("frequencyPenalty"),
          .seed = seed(from.Get("seed")),
          .top_logprobs = integer(from.Get("topLogprobs"), "topLogprobs"),
          .grammar = text(from.Get("grammar"), "grammar"),
          .bias_tokens = int32_array(from.Get("biasTokens"), "biasTokens"),
          .bias_values = float32_array(from.Get("biasValues"), "biasValues"),
          .thinking_budget = integer(from.Get("thinkingBudget"), "thinkingBudget"),
          .think_start = int32_array(from.Get("thinkStart"), "thinkStart"),
          .think_end = int32_array(from.Get("thinkEnd"), "thinkEnd"),
          .starts_in_thinking = boolean(from.Get("startsInThinking"), "startsInThinking")};
}

}  // namespace quern::binding
