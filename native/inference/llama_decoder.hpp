#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "decoder.hpp"
#include "model.hpp"
#include "pace.hpp"
#include "planner.hpp"

struct llama_adapter_lora;
struct llama_context;
struct ggml_threadpool;

namespace quern {

/// A Decoder over a llama.cpp context.
class LlamaDecoder : public Decoder {
 public:
  /// Makes the context and warms it up. Throws Failure 'invalid' (cache types, sizes; says which rule) or
  /// 'model_failed' (mostly: not enough memory).
  LlamaDecoder(std::shared_ptr<const Model> model, const SchedulerOptions& options);
  ~LlamaDecoder() override;
  LlamaDecoder(const LlamaDecoder&) = delete;
  LlamaDecoder& operator=(const LlamaDecoder&) = delete;

  /// The options with the sizes that the context really has.
  const SchedulerOptions& effective() const { return options_; }
  MemoryTraits traits() const { return traits_; }
  /// What warming up told of the speed.
  const Pace& pace() const { return pace_; }
  /// Streams of the buffers that a saved state fits: 1 where it fits those of any shape.
  int state_streams() const { return plain_streams_ > 0 || options_.unified_kv ? 1 : options_.slots; }

  DecodeResult decode(std::span<const BatchToken> batch) override;
  std::span<float> logits(size_t index) override;
  bool trim(int slot, int length) override;
  void share(int from, int to, int length) override;
  void clear(int slot) override;
  void wipe() override;
  int stored(int slot) override;
  std::vector<uint8_t> save(int slot) override;
  bool restore(int slot, std::span<const uint8_t> state) override;
  std::unique_ptr<Decoder> apart() const override;
  void load_adapter(int32_t id, const std::string& path) override;
  void drop_adapter(int32_t id) override;
  void adapt(const AdapterSet& adapters) override;
  void interrupt(bool on) override { interrupted_.store(on, std::memory_order_relaxed); }
  std::string error() override { return error_; }

 private:
  struct FreeAdapter {
    void operator()(llama_adapter_lora* adapter) const;
  };
  /// Loaded adapters by their ids.
  using Adapters = std::map<int32_t, std::unique_ptr<llama_adapter_lora, FreeAdapter>>;

  LlamaDecoder(std::shared_ptr<const Model> model, const SchedulerOptions& options,
               std::shared_ptr<ggml_threadpool> threads, std::shared_ptr<Adapters> adapters);
  void make_context();
  void attach_threads();
  void warm_up();
  /// Milliseconds that a prompt of so many tokens takes; nothing of it stays.
  double try_prompt(int tokens);
  void look_at_memory();
  bool put_back(int slot, std::span<const uint8_t> state);

  std::shared_ptr<const Model> model_;
  SchedulerOptions options_;
  MemoryTraits traits_;
  uint32_t plain_streams_ = 0;  ///< of one plain KV buffer; 0 for any other memory
  llama_context* context_ = nullptr;
  std::shared_ptr<ggml_threadpool> threads_;  ///< shared with the decoders that are apart: one decodes at a time
  std::shared_ptr<Adapters> adapters_;        ///< shared likewise; freed before the model
  AdapterSet adapted_;                        ///< that the context is set to
  Pace pace_;
  std::atomic<bool> interrupted_{false};
  std::string error_;
  std::vector<Token> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> sequence_counts_;
  std::vector<int32_t> slots_;
  std::vector<int32_t*> slot_pointers_;
  std::vector<int8_t> outputs_;
};

}  // namespace quern
