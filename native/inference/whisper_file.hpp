#pragma once

#include <cstdint>
#include <istream>
#include <string>

namespace quern {

/// What the head of a Whisper file in ggml form says of the model.
struct WhisperShape {
  int32_t vocabulary = 0;  ///< 51864 = English only, 51865 = 99 languages, 51866 = 100
  int32_t audio_context = 0;
  int32_t audio_width = 0;
  int32_t audio_heads = 0;
  int32_t audio_layers = 0;
  int32_t text_context = 0;
  int32_t text_width = 0;
  int32_t text_heads = 0;
  int32_t text_layers = 0;
  int32_t mels = 0;
  int32_t type = 0;  ///< ggml's number of the type of the large tensors
  bool multilingual() const { return vocabulary >= 51865; }
};

/**
 * Reads every number of a Whisper file, and none of its weights, before the engine does: the engine takes sizes and
 * shapes on trust and ends the process, or writes beyond its tensors, where they are wrong. `size` is that of the file
 * in bytes, `name` is for messages. Throws Failure 'invalid' that names the number, its value and what is allowed.
 */
WhisperShape check_whisper_file(std::istream& in, uint64_t size, const std::string& name);

}  // namespace quern
