#pragma once

#include <napi.h>

#include <initializer_list>
#include <vector>

#include "lifetime.hpp"

namespace quern::binding {

/// Defines a class whose objects hold C++ ones, in this environment. Its methods are as those of any class of
/// JavaScript.
template <typename Self>
void define_class(Napi::Env env, const char* name, std::vector<Napi::ClassPropertyDescriptor<Self>> members) {
  for (auto& member : members) static_cast<napi_property_descriptor&>(member).attributes = napi_default_method;
  AddonState::of(env).classes[name] = Napi::Persistent(Self::DefineClass(env, name, members));
}

/// A new object of such a class.
inline Napi::Object make_object(Napi::Env env, const char* name, const std::initializer_list<napi_value>& arguments) {
  return AddonState::of(env).classes[name].New(arguments);
}

/// Adds the function `opener` to the exports, which makes an object of up to three arguments.
inline void define_opener(Napi::Env env, Napi::Object exports, const char* opener, const char* name) {
  exports.Set(opener, Napi::Function::New(
                          env,
                          [name](const Napi::CallbackInfo& info) -> Napi::Value {
                            return make_object(info.Env(), name, {info[0], info[1], info[2]});
                          },
                          opener));
}

}  // namespace quern::binding
