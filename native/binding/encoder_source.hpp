#pragma once

#include <napi.h>

#include "../encoder/source.hpp"

namespace quern::binding {

/// EncoderShape of native/contract/encoder.ts. Throws Failure('invalid').
encoder::Shape encoder_shape(const Napi::Value& value);

/// EncoderWeights, read in place: the arrays must stay as they are while the source is used.
encoder::EncoderSource encoder_source(const Napi::Value& value);

}  // namespace quern::binding
