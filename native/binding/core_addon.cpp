#include <napi.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../anomaly/registry.hpp"
#include "../base/cpu.hpp"
#include "../sockets/connections.hpp"
#include "../threads/turns.hpp"
#include "../wire/float_text.hpp"
#include "anomaly_fit_object.hpp"
#include "anomaly_model_object.hpp"
#include "anomaly_restore_object.hpp"
#include "arguments.hpp"
#include "audio_object.hpp"
#include "classifier_object.hpp"
#include "columns_object.hpp"
#include "encoder_object.hpp"
#include "lifetime.hpp"
#include "text_index_object.hpp"
#include "vector_index_object.hpp"

namespace quern::binding {
namespace {

Napi::Value anomaly_backends(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env());
  for (const std::string_view name : anomaly::backends()) names.Set(names.Length(), std::string(name));
  return names;
}

Napi::Value instruction_set(const Napi::CallbackInfo& info) {
  const Isa isa = best_isa();
  return Napi::String::New(info.Env(), isa == Isa::kAvx512 ? "avx512" : isa == Isa::kAvx2 ? "avx2" : "portable");
}

Napi::Value take_short_turns(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), quern::take_short_turns());
}

uint16_t port_argument(const Napi::Value& value) {
  const int32_t port = integer(value, "port");
  if (port < 1 || port > UINT16_MAX)
    throw Failure("invalid", "port is " + std::to_string(port) + "; allowed is 1 to 65535.");
  return static_cast<uint16_t>(port);
}

/// A Uint8Array's bytes, borrowed; a transferred array counts as empty.
std::span<uint8_t> bytes_argument(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
    throw Failure("invalid", std::string(name) + " must be a Uint8Array.");
  Napi::Uint8Array bytes = value.As<Napi::Uint8Array>();
  const size_t size = bytes.ElementLength();
  return {size == 0 ? nullptr : bytes.Data(), size};
}

Napi::Value limit_receive_buffers(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Napi::Boolean::New(info.Env(),
                              quern::limit_receive_buffers(port_argument(info[0]), integer(info[1], "bytes")));
  });
}

Napi::Value hold_silent_connections(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Napi::Boolean::New(info.Env(),
                              quern::hold_silent_connections(port_argument(info[0]), integer(info[1], "seconds")));
  });
}

Napi::Value peek_connection(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const size_t count = quern::peek(integer(info[0], "socket"), bytes_argument(info[1], "into"));
    return Napi::Number::New(info.Env(), static_cast<double>(count));
  });
}

Napi::Value duplicate_connection(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), quern::duplicate(integer(info[0], "socket")));
  });
}

Napi::Value send_datagram(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Napi::Boolean::New(info.Env(), quern::send_datagram(text(info[0], "address"), text(info[1], "text")));
  });
}

Napi::Value write_floats(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const std::vector<float> values = float32_array(info[0], "values");
    const std::span<uint8_t> bytes = bytes_argument(info[1], "into");
    const std::span<char> into(reinterpret_cast<char*>(bytes.data()), bytes.size());
    const int32_t at = integer(info[2], "at");
    if (at < 0 || static_cast<size_t>(at) > into.size())
      throw Failure("invalid",
                    "at is " + std::to_string(at) + "; allowed is 0 to " + std::to_string(into.size()) + ".");
    const size_t written = quern::write_floats(values, into.subspan(static_cast<size_t>(at)));
    return Napi::Number::New(info.Env(), static_cast<double>(static_cast<size_t>(at) + written));
  });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonState());
  watch_exit(env);
  define_install(env, exports);
  exports.Set("instructionSet", Napi::Function::New(env, instruction_set, "instructionSet"));
  exports.Set("takeShortTurns", Napi::Function::New(env, take_short_turns, "takeShortTurns"));
  exports.Set("limitReceiveBuffers", Napi::Function::New(env, limit_receive_buffers, "limitReceiveBuffers"));
  exports.Set("holdSilentConnections", Napi::Function::New(env, hold_silent_connections, "holdSilentConnections"));
  exports.Set("peekConnection", Napi::Function::New(env, peek_connection, "peekConnection"));
  exports.Set("duplicateConnection", Napi::Function::New(env, duplicate_connection, "duplicateConnection"));
  exports.Set("sendDatagram", Napi::Function::New(env, send_datagram, "sendDatagram"));
  exports.Set("anomalyBackends", Napi::Function::New(env, anomaly_backends, "anomalyBackends"));
  exports.Set("writeFloats", Napi::Function::New(env, write_floats, "writeFloats"));
  AnomalyFitObject::define(env, exports);
  AnomalyModelObject::define(env);
  AnomalyRestoreObject::define(env, exports);
  define_audio(env, exports);
  ClassifierFitObject::define(env, exports);
  ColumnsObject::define(env, exports);
  EncoderObject::define(env, exports);
  TextIndexObject::define(env, exports);
  VectorIndexObject::define(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(quern_core, init)

}  // namespace quern::binding
