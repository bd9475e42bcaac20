#pragma once

#include <napi.h>

#include "../storage/checked_file.hpp"

namespace quern::binding {

/// IndexLoad of the contract.
inline Napi::Value load_answer(Napi::Env env, const LoadOutcome& outcome) {
  constexpr const char* kNames[] = {"loaded", "missing", "stale", "corrupt"};
  Napi::Object object = Napi::Object::New(env);
  object.Set("state", kNames[static_cast<size_t>(outcome.state)]);
  object.Set("reason", outcome.reason);
  return object;
}

}  // namespace quern::binding
