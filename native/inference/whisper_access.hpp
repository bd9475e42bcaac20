#pragma once

#include <cstdint>
#include <span>

#include "ggml-backend.h"
#include "token_times.hpp"

struct whisper_context;
struct whisper_state;

namespace quern {

/**
 * Has every graph of `state` end early once `abort` returns true; the engine's own callback is asked between graphs
 * only, and one encoder pass takes seconds. Null takes it back.
 */
void set_whisper_abort(whisper_state* state, ggml_abort_callback abort, void* data);

/// Frames of 20 ms that the next pass looks at, also where it only listens for the language; 0 = all 1500.
void set_whisper_context(whisper_state* state, int frames);

/**
 * Has the decoder read `tokens` over the audio that was encoded last, and tells what each attends to; the heads are
 * those that are known to follow the audio, or for a model of an unknown shape those of its upper layers. Nothing where
 * the tokens do not fit or the pass fails. The next pass of the engine has to begin with its encoder.
 */
Attention whisper_attention(whisper_context* context, whisper_state* state, std::span<const int32_t> tokens,
                            int threads);

}  // namespace quern
