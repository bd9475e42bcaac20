#pragma once

#include <string>

namespace quern {

/// Starts llama.cpp; its error lines, and those of whisper.cpp, are collected instead of printed. Once per process,
/// before any other call.
void start_engine();
/// The error lines since the last call, joined by "; ", without function names; empty when there were none. Any thread.
std::string take_engine_errors();

}  // namespace quern
