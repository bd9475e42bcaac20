#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quern {

// llama.cpp writes the state of one sequence as a magic number, the sequence, how many streams the buffer has (one for
// all sequences, or one each), and per stream the number of cells, with the cells where there are any. Only the stream
// of the sequence has some, so what the state is of does not depend on the streams: it is kept as if there were one.

/// How many streams the state of an empty sequence counts when it is that of one plain KV buffer; 0 for any other
/// memory (windows, recurrent layers), which writes several such lists or none.
uint32_t plain_streams(std::span<const uint8_t> empty);

/// Makes a state of a plain buffer with so many streams one of a single stream; false, and nothing changed, when it is
/// none.
bool fold_streams(std::vector<uint8_t>& state, uint32_t streams);

/// The other way; empty when it is not a state of a single stream.
std::vector<uint8_t> unfold_streams(std::span<const uint8_t> state, uint32_t streams);

}  // namespace quern
