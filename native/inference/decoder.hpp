#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"

namespace quern {

/// One token of a step.
struct BatchToken {
  Token token;
  int32_t position;
  int32_t slot;
  bool output;  ///< logits are wanted
};

/// Most tokens of a step of a decoder that is apart.
inline constexpr int kApartTokens = 128;

/// How a step ended.
enum class DecodeResult {
  done,
  no_room,  ///< the KV buffer has no free cells; nothing changed
  aborted,  ///< interrupted; what was stored is told by stored()
  failed,   ///< the slots of the batch are undefined; error() says why
};

/// What the scheduler needs of an engine; slots are KV sequences. Used by one thread, except interrupt().
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual DecodeResult decode(std::span<const BatchToken> batch) = 0;
  /// Logits of the batch's token at `index`, writable, valid until the next decode().
  virtual std::span<float> logits(size_t index) = 0;
  /// Keeps the first `length` tokens of a slot; false when the memory cannot cut there (recurrent models): clear it
  /// then.
  virtual bool trim(int slot, int length) = 0;
  /// Gives an empty slot the first `length` tokens of another.
  virtual void share(int from, int to, int length) = 0;
  virtual void clear(int slot) = 0;
  /// Empties all slots and overwrites what they held.
  virtual void wipe() = 0;
  /// Tokens that a slot really holds.
  virtual int stored(int slot) = 0;
  /// A copy of a slot's memory; empty where it cannot be had.
  virtual std::vector<uint8_t> save(int slot) = 0;
  /// Fills an empty slot with such a copy; false where it does not fit, the slot is undefined then.
  virtual bool restore(int slot, std::span<const uint8_t> state) = 0;
  /// True makes the decode() in progress, and later ones, end early with `aborted`. Any thread.
  virtual void interrupt(bool on) = 0;
  /// A decoder of one slot over the same weights, with memory of its own, for steps of kApartTokens. Throws Failure
  /// 'model_failed' where there is no room for that.
  virtual std::unique_ptr<Decoder> apart() const = 0;
  /// Loads an adapter for this decoder and those that are apart from it. Throws Failure 'invalid' with the engine's
  /// reason.
  virtual void load_adapter(int32_t id, const std::string& path) = 0;
  /// Frees an adapter, which no decoder may be set to.
  virtual void drop_adapter(int32_t id) = 0;
  /// What the next steps are computed with. Throws Failure 'unavailable' for an adapter that is not loaded.
  virtual void adapt(const AdapterSet& adapters) = 0;
  /// Text of the last failure.
  virtual std::string error() = 0;
};

}  // namespace quern
