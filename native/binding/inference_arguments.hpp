#pragma once

#include <napi.h>

#include "../inference/options.hpp"

namespace quern::binding {

// Each reads an object that may be anything and throws Failure('invalid') with the field that is not what is required.
ModelOptions model_options(const Napi::Value& value);
SchedulerOptions scheduler_options(const Napi::Value& value);
GenerateOptions generate_options(const Napi::Value& value);
AdapterSet adapters(const Napi::Value& ids, const Napi::Value& scales);

}  // namespace quern::binding
