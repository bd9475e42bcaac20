#pragma once

namespace quern {

/**
 * Gives ggml's CPU backend our kernels for Q8_0 weights (native/inference/kernels/q8_matmul.hpp), through its own
 * extension point for repacked weights. Call it once, after the CPU library was loaded and before a model is. Where the
 * backend or the processor does not fit, or `QUERN_PLAIN_Q8` is set, ggml's own kernels stay. Returns the name of the
 * instruction set used, or nullptr.
 */
const char* register_q8_weights();

/**
 * Says how the models that are loaded next are read. `mapped`: weights come from a mapping of the file, whose pages are
 * given back once they are packed; only then is that safe. `locked`: the packed weights stay out of swap, as far as the
 * system lets the process.
 */
void expect_q8_weights(bool mapped, bool locked);

}  // namespace quern
