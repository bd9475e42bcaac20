#include "transcriber.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "../base/failure.hpp"
#include "engine_log.hpp"
#include "token_times.hpp"
#include "whisper.h"
#include "whisper_access.hpp"

namespace quern {
namespace {

constexpr int kThreadLimit = 1024;
/// Bytes; the model reads no more than the last 224 tokens of it, and the engine splits it by a recursive search.
constexpr size_t kPromptLimit = 2000;
/// Where nothing is heard well the same is tried again, this much warmer each time, up to 1.
constexpr float kTemperatureStep = 0.2f;
/// A mean log probability below this, or text with less entropy than the second, is not believed.
constexpr float kLeastLogProbability = -1.0f;
constexpr float kLeastEntropy = 2.4f;
/// A window is silence where the model says so with this probability, and does not believe its own text.
constexpr float kSilence = 0.6f;
/// The engine counts in hundredths of a second; a division gives the nearest number to them.
constexpr double kTicks = 100;
constexpr double kRate = WHISPER_SAMPLE_RATE;
/// The engine hears a window at a time, in frames of so many a second.
constexpr double kWindowSeconds = WHISPER_CHUNK_SIZE;
constexpr double kFrames = 50;
/// In less than 0.1 s nothing is heard.
constexpr size_t kLeastSamples = WHISPER_SAMPLE_RATE / 10;

/// Languages that write no spaces between words.
bool has_spaces(const std::string& language) {
  constexpr std::array<std::string_view, 7> kWithout{"zh", "ja", "th", "lo", "my", "yue", "km"};
  return std::find(kWithout.begin(), kWithout.end(), language) == kWithout.end();
}

/// One call, as the engine's callbacks see it.
struct Call {
  const std::function<void(Segment)>& on_segment;
  const std::atomic<bool>& stop;
  std::span<const float> samples;
  bool words;
  bool translate;
  int threads;
  double last = 0;  ///< end of the segment before
  int waiting = 0;  ///< segments of the window that was decoded last, whose words have no times yet

  bool stopped() const { return stop.load(std::memory_order_relaxed); }
  double seconds() const { return static_cast<double>(samples.size()) / kRate; }
};

/// The texts and probabilities of a segment's tokens; no times.
std::vector<SpokenToken> read_tokens(whisper_context* context, whisper_state* state, int index) {
  std::vector<SpokenToken> tokens;
  const int count = whisper_full_n_tokens_from_state(state, index);
  for (int i = 0; i < count; ++i) {
    const whisper_token_data data = whisper_full_get_token_data_from_state(state, index, i);
    if (data.id >= whisper_token_eot(context)) continue;
    tokens.push_back({.bytes = whisper_token_to_str(context, data.id),
                      .probability = data.p,
                      .id = data.id,
                      .log_probability = data.plog});
  }
  return tokens;
}

Segment read_segment(whisper_state* state, int index, const std::vector<SpokenToken>& tokens, Call& call) {
  Segment segment;
  segment.start = std::clamp(static_cast<double>(whisper_full_get_segment_t0_from_state(state, index)) / kTicks,
                             std::min(call.last, call.seconds()), call.seconds());
  segment.end = std::clamp(static_cast<double>(whisper_full_get_segment_t1_from_state(state, index)) / kTicks,
                           segment.start, call.seconds());
  segment.text = whisper_full_get_segment_text_from_state(state, index);
  segment.no_speech_probability = whisper_full_get_segment_no_speech_prob_from_state(state, index);
  double sum = 0;
  for (const SpokenToken& token : tokens) sum += token.log_probability;
  segment.mean_log_probability = tokens.empty() ? 0 : static_cast<float>(sum / static_cast<double>(tokens.size()));
  return segment;
}

void tell(Segment segment, Call& call) {
  call.last = segment.end;
  call.on_segment(std::move(segment));
}

/// Hundredths of a second at which the window of a segment begins; its first token tells how far in it begins.
int64_t window_start(whisper_context* context, whisper_state* state, int index) {
  const int64_t start = whisper_full_get_segment_t0_from_state(state, index);
  if (whisper_full_n_tokens_from_state(state, index) == 0) return start;
  const whisper_token_data first = whisper_full_get_token_data_from_state(state, index, 0);
  return std::max<int64_t>(0, start - 2 * (first.tid - whisper_token_beg(context)));
}

/// Gives the tokens of one window their times, by what the model attended to.
void place_tokens(whisper_context* context, whisper_state* state, std::vector<std::vector<SpokenToken>>& segments,
                  int64_t window, const Call& call) {
  std::vector<int32_t> tokens{whisper_token_sot(context)};
  if (whisper_is_multilingual(context) != 0) {
    tokens.push_back(whisper_token_lang(context, std::max(0, whisper_full_lang_id_from_state(state))));
    tokens.push_back(call.translate ? whisper_token_translate(context) : whisper_token_transcribe(context));
  }
  const size_t first = tokens.size();
  tokens.push_back(whisper_token_not(context));
  for (const auto& segment : segments)
    for (const SpokenToken& token : segment) tokens.push_back(token.id);
  tokens.push_back(whisper_token_eot(context));
  const double start = static_cast<double>(window) / kTicks;
  const double left = std::clamp(call.seconds() - start, 0.0, kWindowSeconds);
  const std::vector<size_t> frames =
      token_frames(whisper_attention(context, state, tokens, call.threads), first, static_cast<size_t>(left * kFrames));
  // Where nothing could be aligned the tokens share the window.
  const double count = static_cast<double>(tokens.size() - first - 2);
  const auto time = [&](size_t at) {
    return start +
           (frames.empty() ? left * static_cast<double>(at) / count : static_cast<double>(frames[at]) / kFrames);
  };
  size_t at = 0;
  for (auto& segment : segments)
    for (SpokenToken& token : segment) {
      token.start = time(at);
      token.end = time(++at);
    }
}

/// Tells the segments that wait for the times of their words; the encoder has not gone on yet.
void tell_waiting(whisper_context* context, whisper_state* state, Call& call) {
  const int count = std::exchange(call.waiting, 0);
  if (count == 0 || call.stopped()) return;
  const int from = whisper_full_n_segments_from_state(state) - count;
  std::vector<std::vector<SpokenToken>> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(read_tokens(context, state, from + i));
  place_tokens(context, state, tokens, window_start(context, state, from), call);
  const bool spaces = has_spaces(whisper_lang_str(std::max(0, whisper_full_lang_id_from_state(state))));
  std::vector<Segment> segments;
  std::vector<SpokenWord*> words;
  for (int i = 0; i < count; ++i) {
    segments.push_back(read_segment(state, from + i, tokens[static_cast<size_t>(i)], call));
    segments.back().words = join_words(tokens[static_cast<size_t>(i)], spaces, 0, call.seconds());
  }
  for (Segment& segment : segments)
    for (SpokenWord& word : segment.words) words.push_back(&word);
  const auto heard = static_cast<size_t>(call.last * kRate);
  fit_to_sound(words, call.samples.subspan(std::min(heard, call.samples.size())), call.last);
  for (Segment& segment : segments) {
    if (!segment.words.empty()) {
      segment.start = segment.words.front().start;
      segment.end = segment.words.back().end;
    }
    if (call.stopped()) return;
    tell(std::move(segment), call);
  }
}

void on_segments(whisper_context* context, whisper_state* state, int count, void* data) {
  Call& call = *static_cast<Call*>(data);
  if (call.words) {
    call.waiting += count;
    return;
  }
  const int all = whisper_full_n_segments_from_state(state);
  for (int i = std::max(0, all - count); i < all && !call.stopped(); ++i)
    tell(read_segment(state, i, read_tokens(context, state, i), call), call);
}

bool on_next_window(whisper_context* context, whisper_state* state, void* data) {
  tell_waiting(context, state, *static_cast<Call*>(data));
  return true;
}

bool is_stopped(void* data) {
  return static_cast<const Call*>(data)->stopped();
}

}  // namespace

void check(const TranscriberOptions& options) {
  if (options.threads < 1 || options.threads > kThreadLimit)
    throw Failure("invalid", "threads is " + std::to_string(options.threads) + "; allowed are 1 to " +
                                 std::to_string(kThreadLimit) + ".");
}

void check(const TranscribeOptions& options) {
  if (!(options.temperature >= 0 && options.temperature <= 1))
    throw Failure("invalid", "temperature is " + std::to_string(options.temperature) + "; allowed are 0 to 1.");
  if (options.audio_context < 0 || options.audio_context > 1500)
    throw Failure("invalid",
                  "audioContext is " + std::to_string(options.audio_context) + "; allowed are 0 (all) to 1500.");
}

Transcriber::Transcriber(const std::string& path, const TranscriberOptions& options)
    : options_(options), context_(nullptr, whisper_free), state_(nullptr, whisper_free_state) {
  check(options_);
  const std::string name = std::filesystem::path(path).filename().string();
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw Failure("not_found", name + " cannot be opened; check that it is there and readable.");
  shape_ = check_whisper_file(in, size, name);
  in.close();
  whisper_context_params params = whisper_context_default_params();
  params.use_gpu = options_.gpu;
  take_engine_errors();
  context_.reset(whisper_init_from_file_with_params_no_state(path.c_str(), params));
  const std::string reason = take_engine_errors();
  if (!context_)
    throw Failure("model_failed", name + " cannot be loaded" + (reason.empty() ? "" : ": " + reason) + ".");
}

Transcriber::~Transcriber() = default;

std::string Transcriber::language_for(const TranscribeOptions& options) const {
  const std::string& given = options.language;
  if (!shape_.multilingual()) {
    if (given.empty() || given == "en" || given == "english") return "en";
    throw Failure("bad_request", "Language \"" + given +
                                     "\" was asked for, and this model hears English only; name a model without .en.");
  }
  if (given.empty()) return given;
  const int id = whisper_lang_id(given.c_str());
  // The hundredth language came with the largest vocabulary.
  if (id < 0 || id >= shape_.vocabulary - 51766)
    throw Failure("bad_request", "Language \"" + given +
                                     "\" is not one that this model knows; give a code of ISO 639-1 " +
                                     "such as en, de or ja, or leave it out to have it detected.");
  return whisper_lang_str(id);
}

std::string Transcriber::transcribe(std::span<const float> samples, const TranscribeOptions& options,
                                    const std::function<void(Segment)>& on_segment, const std::atomic<bool>& stop) {
  check(options);
  const std::string language = language_for(options);
  // Of no samples the engine would hear those of the call before.
  if (samples.size() < kLeastSamples) return language.empty() ? "en" : language;
  const std::lock_guard lock(mutex_);
  Call call{.on_segment = on_segment,
            .stop = stop,
            .samples = samples,
            .words = options.words,
            .translate = options.translate,
            .threads = options_.threads};
  if (call.stopped()) throw Failure("unavailable", "The transcription was stopped.");
  const std::string prompt = options.prompt.size() > kPromptLimit
                                 ? options.prompt.substr(options.prompt.size() - kPromptLimit)
                                 : options.prompt;
  whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
  params.n_threads = options_.threads;
  params.language = language.empty() ? "auto" : language.c_str();
  params.translate = options.translate;
  params.initial_prompt = prompt.empty() ? nullptr : prompt.c_str();
  params.no_context = true;
  params.print_progress = params.print_realtime = params.print_timestamps = params.print_special = false;
  params.suppress_blank = params.suppress_nst = true;
  params.audio_ctx = options.audio_context;
  params.greedy.best_of = 1;
  params.temperature = options.temperature;
  params.temperature_inc = options.temperature > 0 ? 0 : kTemperatureStep;
  params.logprob_thold = kLeastLogProbability;
  params.entropy_thold = kLeastEntropy;
  params.no_speech_thold = kSilence;
  params.new_segment_callback = on_segments;
  params.new_segment_callback_user_data = &call;
  params.encoder_begin_callback = on_next_window;
  params.encoder_begin_callback_user_data = &call;
  params.abort_callback = is_stopped;
  params.abort_callback_user_data = &call;
  // Kept only after a call that went well: of one that ended early something may be left in it.
  auto state = std::move(state_);
  if (!state) state.reset(whisper_init_state(context_.get()));
  if (!state) throw Failure("busy", "There is not enough memory to transcribe; try again later.");
  set_whisper_abort(state.get(), is_stopped, &call);
  set_whisper_context(state.get(), options.audio_context);
  take_engine_errors();
  const int code = whisper_full_with_state(context_.get(), state.get(), params, samples.data(),
                                           static_cast<int>(std::min<size_t>(samples.size(), INT32_MAX)));
  if (code == 0) tell_waiting(context_.get(), state.get(), call);
  const std::string reason = take_engine_errors();
  if (call.stopped()) throw Failure("unavailable", "The transcription was stopped.");
  if (code != 0)
    throw Failure("model_failed", "The model could not hear the audio (code " + std::to_string(code) +
                                      (reason.empty() ? ")" : "): " + reason) + ".");
  set_whisper_abort(state.get(), nullptr, nullptr);
  state_ = std::move(state);
  return shape_.multilingual() ? whisper_lang_str(std::max(0, whisper_full_lang_id_from_state(state_.get()))) : "en";
}

}  // namespace quern
