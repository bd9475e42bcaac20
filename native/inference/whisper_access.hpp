#pragma once

#include "ggml-backend.h"

struct whisper_state;

namespace quern {

/**
 * Has every graph of `state` end early once `abort` returns true; the engine's own callback is asked between graphs
 * only, and one encoder pass takes seconds. Null takes it back.
 */
void set_whisper_abort(whisper_state* state, ggml_abort_callback abort, void* data);

/// Frames of 20 ms that the next pass looks at, also where it only listens for the language; 0 = all 1500.
void set_whisper_context(whisper_state* state, int frames);

}  // namespace quern
