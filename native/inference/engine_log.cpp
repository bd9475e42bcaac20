#include "engine_log.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>

#include "llama.h"
#include "whisper.h"

namespace quern {
namespace {

/// Enough for the chain of reasons that llama.cpp gives for one failed load.
constexpr size_t kTextLimit = 2000;

struct Errors {
  std::mutex mutex;
  std::string text;
  bool wanted = false;  ///< whether a continued line belongs to an error
};

Errors& errors() {
  static Errors instance;
  return instance;
}

void collect(ggml_log_level level, const char* text, void*) {
  Errors& all = errors();
  const std::lock_guard lock(all.mutex);
  if (level != GGML_LOG_LEVEL_CONT) all.wanted = level == GGML_LOG_LEVEL_ERROR;
  if (!all.wanted || text == nullptr) return;
  std::string_view line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  // "function_name: text": the name says nothing to a caller.
  const size_t colon = line.find(": ");
  if (colon != line.npos && line.substr(0, colon).find(' ') == line.npos) line.remove_prefix(colon + 2);
  if (line.empty()) return;
  if (!all.text.empty() && level != GGML_LOG_LEVEL_CONT) all.text += "; ";
  all.text += line.substr(0, kTextLimit);
  if (all.text.size() > kTextLimit) all.text.erase(0, all.text.size() - kTextLimit);
}

}  // namespace

void start_engine() {
  llama_log_set(collect, nullptr);
  whisper_log_set(collect, nullptr);
  llama_backend_init();
}

std::string take_engine_errors() {
  Errors& all = errors();
  const std::lock_guard lock(all.mutex);
  std::string text;
  std::swap(text, all.text);
  return text;
}

}  // namespace quern
