#pragma once

#include <string>

namespace quern {

/// Collects llama.cpp's and ggml's error lines instead of printing them. Once per process, before any other call.
void capture_engine_log();
/// The error lines since the last call, joined by "; ", without function names; empty when there were none. Any thread.
std::string take_engine_errors();

}  // namespace quern
