#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "spoken_words.hpp"
#include "whisper_file.hpp"

struct whisper_context;
struct whisper_state;

namespace quern {

/// How a transcriber is set up; native/contract/transcriber.ts explains the members.
struct TranscriberOptions {
  int threads = 1;
  bool gpu = true;
};

/// One call; native/contract/transcriber.ts explains the members.
struct TranscribeOptions {
  std::string language;
  bool translate = false;
  std::string prompt;
  float temperature = 0;
  bool words = false;
  int audio_context = 0;
};

struct Segment {
  double start = 0;  ///< seconds
  double end = 0;
  std::string text;  ///< UTF-8, which the model may have cut
  float mean_log_probability = 0;
  float no_speech_probability = 0;
  std::vector<SpokenWord> words;
};

/// Throws Failure('invalid') that names the option, its value and what is allowed.
void check(const TranscriberOptions& options);
void check(const TranscribeOptions& options);

/// Writes down what is said, by a Whisper model.
class Transcriber {
 public:
  /// Checks the file and loads it. Throws Failure 'invalid' for a file that cannot be used, 'model_failed' where the
  /// engine does not take it (mostly: not enough memory).
  Transcriber(const std::string& path, const TranscriberOptions& options);
  ~Transcriber();
  Transcriber(const Transcriber&) = delete;
  Transcriber& operator=(const Transcriber&) = delete;

  const WhisperShape& shape() const { return shape_; }

  /**
   * Writes down `samples` (16 kHz mono), of any length; the segments are told as they are found, from this thread.
   * Blocks; any thread, one at a time. Returns the language, ISO 639-1. Throws Failure 'bad_request' for a language
   * that the model does not know, 'unavailable' once `stop` is true.
   */
  std::string transcribe(std::span<const float> samples, const TranscribeOptions& options,
                         const std::function<void(Segment)>& on_segment, const std::atomic<bool>& stop);

 private:
  /// What the engine is to be told for the language; empty = it listens.
  std::string language_for(const TranscribeOptions& options) const;

  const TranscriberOptions options_;
  WhisperShape shape_;
  std::unique_ptr<whisper_context, void (*)(whisper_context*)> context_;
  /// Buffers of a call.
  std::unique_ptr<whisper_state, void (*)(whisper_state*)> state_;
  std::mutex mutex_;
};

}  // namespace quern
