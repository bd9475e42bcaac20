#pragma once

#include <napi.h>

#include "../inference/model.hpp"

namespace quern::binding {

/// NativeModelInfo of native/contract/inference.ts.
Napi::Object facts_object(Napi::Env env, const ModelFacts& facts);

}  // namespace quern::binding
