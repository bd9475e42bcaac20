// whisper.cpp as it comes from its package, with what its interface does not offer.
#include <utility>

#include "src/whisper.cpp"
#include "whisper_access.hpp"

namespace quern {
namespace {

/// Heads that are looked at where nobody has said which of a model follow the audio.
constexpr int kMostHeads = 40;

/// The heads that follow the audio are known for the models of OpenAI, by their shapes.
whisper_alignment_heads_preset known_heads(const whisper_hparams& shape) {
  const bool is_english = shape.n_vocab < 51865;
  if (shape.n_text_layer == 32 && shape.n_audio_layer == 32)
    return shape.n_vocab > 51865 ? WHISPER_AHEADS_LARGE_V3 : WHISPER_AHEADS_LARGE_V2;
  if (shape.n_text_layer == 4 && shape.n_audio_layer == 32) return WHISPER_AHEADS_LARGE_V3_TURBO;
  if (shape.n_text_layer != shape.n_audio_layer || shape.n_text_head * 64 != shape.n_text_state)
    return WHISPER_AHEADS_NONE;
  switch (shape.n_text_layer * 100 + shape.n_text_head) {
    case 406:
      return is_english ? WHISPER_AHEADS_TINY_EN : WHISPER_AHEADS_TINY;
    case 608:
      return is_english ? WHISPER_AHEADS_BASE_EN : WHISPER_AHEADS_BASE;
    case 1212:
      return is_english ? WHISPER_AHEADS_SMALL_EN : WHISPER_AHEADS_SMALL;
    case 2416:
      return is_english ? WHISPER_AHEADS_MEDIUM_EN : WHISPER_AHEADS_MEDIUM;
    default:
      return WHISPER_AHEADS_NONE;
  }
}

/// Chooses the heads of a model, and makes the tensors by which a state picks them, once.
bool has_alignment_heads(whisper_context& context, whisper_state& state) {
  if (state.aheads_masks.ctx != nullptr) return true;
  const whisper_hparams& shape = context.model.hparams;
  context.params.dtw_aheads_preset = known_heads(shape);
  if (context.params.dtw_aheads_preset == WHISPER_AHEADS_NONE) {
    context.params.dtw_aheads_preset = WHISPER_AHEADS_N_TOP_MOST;
    context.params.dtw_n_top =
        std::clamp(kMostHeads / std::max(1, shape.n_text_head), 1, std::max(1, shape.n_text_layer / 2));
  }
  return aheads_masks_init(context.params, shape, state.aheads_masks, state.backends[0]);
}

/// Fills the decoder's memory of the audio anew, in the form of the attention that is computed as such.
bool read_audio_again(whisper_context& context, whisper_state& state, int threads) {
  ggml_cgraph* graph = whisper_build_graph_cross(context, state);
  return ggml_backend_sched_alloc_graph(state.sched_cross.sched, graph) &&
         ggml_graph_compute_helper(state.sched_cross.sched, graph, threads);
}

bool read_tokens(whisper_context& context, whisper_state& state, std::span<const int32_t> tokens, int threads) {
  whisper_kv_cache_clear(state.kv_self);
  whisper_batch_prep_legacy(state.batch, tokens.data(), static_cast<int>(tokens.size()), 0, 0);
  state.aheads_cross_QKs = nullptr;
  const bool done = whisper_decode_internal(context, state, state.batch, threads, true, nullptr, nullptr);
  whisper_kv_cache_clear(state.kv_self);
  return done && state.aheads_cross_QKs != nullptr && state.aheads_cross_QKs->type == GGML_TYPE_F32;
}

}  // namespace

Attention whisper_attention(whisper_context* context, whisper_state* state, std::span<const int32_t> tokens,
                            int threads) {
  const whisper_hparams& shape = context->model.hparams;
  if (tokens.empty() || tokens.size() > static_cast<size_t>(shape.n_text_ctx) || state->embd_enc == nullptr) return {};
  if (!has_alignment_heads(*context, *state)) return {};
  // The fast form of attention does not show what is attended to.
  const bool was_fast = std::exchange(context->params.flash_attn, false);
  context->params.dtw_token_timestamps = true;
  const bool done = read_audio_again(*context, *state, threads) && read_tokens(*context, *state, tokens, threads);
  context->params.dtw_token_timestamps = false;
  context->params.flash_attn = was_fast;
  if (!done) return {};
  const ggml_tensor* weights = state->aheads_cross_QKs;
  Attention attention{.tokens = static_cast<size_t>(weights->ne[0]),
                      .frames = static_cast<size_t>(weights->ne[1]),
                      .heads = static_cast<size_t>(weights->ne[2]),
                      .weights = std::vector<float>(static_cast<size_t>(ggml_nelements(weights)))};
  ggml_backend_tensor_get(weights, attention.weights.data(), 0, ggml_nbytes(weights));
  return attention;
}

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
