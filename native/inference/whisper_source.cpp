// whisper.cpp as it comes from its package, with what its interface does not offer.
#include "src/whisper.cpp"
#include "whisper_access.hpp"

namespace quern {

void set_whisper_abort(whisper_state* state, ggml_abort_callback abort, void* data) {
  for (ggml_backend_t backend : state->backends) {
    ggml_backend_dev_t device = ggml_backend_get_device(backend);
    ggml_backend_reg_t owner = device == nullptr ? nullptr : ggml_backend_dev_backend_reg(device);
    if (owner == nullptr) continue;
    const auto set = reinterpret_cast<ggml_backend_set_abort_callback_t>(
        ggml_backend_reg_get_proc_address(owner, "ggml_backend_set_abort_callback"));
    if (set != nullptr) set(backend, abort, data);
  }
}

void set_whisper_context(whisper_state* state, int frames) {
  state->exp_n_audio_ctx = frames;
}

}  // namespace quern
