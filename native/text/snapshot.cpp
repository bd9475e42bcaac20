#include "snapshot.hpp"

#include <bit>
#include <cstring>

namespace quern::text {
namespace {

constexpr FileKind kKind{{'Q', 'U', 'E', 'R', 'N', 'T', 'X', 'T'}, 1};
/// To be raised when the same text gives other terms.
constexpr uint32_t kAnalysis = 1;

struct Facts {
  uint32_t analysis;
  uint32_t language;
  double k1;
  double b;
  uint64_t parts;
};

/// One entry of the first section; the second holds the tombs and the third the segments, in the same order.
struct Place {
  uint64_t segment_bytes;
  uint64_t dead_words;
  uint32_t dead;
  uint32_t has_tombs;
};

size_t tomb_bytes(const Segment& segment) {
  return (segment.docs() + 63) / 64 * 8 + (segment.terms() + size_t{1}) / 2 * 8;
}

std::shared_ptr<const Tombs> read_tombs(const std::byte* from, const Segment& segment, const Place& place) {
  auto tombs = std::make_shared<Tombs>();
  tombs->dead.resize((segment.docs() + 63) / 64);
  tombs->dead_df.resize(segment.terms());
  std::memcpy(tombs->dead.data(), from, tombs->dead.size() * 8);
  if (segment.terms() > 0)
    std::memcpy(tombs->dead_df.data(), from + tombs->dead.size() * 8, segment.terms() * sizeof(uint32_t));
  tombs->count = place.dead;
  tombs->words = place.dead_words;
  uint32_t marked = 0;
  for (const uint64_t bits : tombs->dead) marked += static_cast<uint32_t>(std::popcount(bits));
  bool sound = marked == place.dead && marked <= segment.docs() && place.dead_words <= segment.words();
  for (uint32_t term = 0; term < segment.terms(); ++term)
    sound = sound && tombs->dead_df[term] <= segment.entry(term).df;
  return sound ? tombs : nullptr;
}

/// Whether all was as it must be.
bool read_parts(const std::shared_ptr<const CheckedFile>& file, uint64_t count, Snapshot& snapshot) {
  const auto places = file->section(0);
  auto tombs = file->section(1);
  auto segments = file->section(2);
  if (places.size() != count * sizeof(Place)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    Place place;
    std::memcpy(&place, places.data() + i * sizeof(place), sizeof(place));
    if (place.segment_bytes > segments.size()) return false;
    Part part{Segment::view(segments.first(place.segment_bytes), file), nullptr};
    if (!part.segment || part.segment->bytes().size() != place.segment_bytes) return false;
    segments = segments.subspan(place.segment_bytes);
    if (place.has_tombs != 0) {
      const size_t size = tomb_bytes(*part.segment);
      if (size > tombs.size()) return false;
      part.tombs = read_tombs(tombs.data(), *part.segment, place);
      if (!part.tombs) return false;
      tombs = tombs.subspan(size);
    }
    snapshot.parts.push_back(std::move(part));
  }
  return true;
}

}  // namespace

void Snapshot::count() {
  docs = 0;
  words = 0;
  for (const Part& part : parts) {
    docs += part.live();
    words += part.words();
  }
}

void write_snapshot(const Snapshot& snapshot, const IndexOptions& options, const std::string& path,
                    uint64_t generation) {
  CheckedWriter writer(path, kKind, generation);
  writer.section();
  for (const auto& [segment, tombs] : snapshot.parts) {
    const Place place{segment->bytes().size(), tombs ? tombs->words : 0, tombs ? tombs->count : 0, tombs ? 1u : 0u};
    writer.write(&place, sizeof(place));
  }
  writer.section();
  for (const auto& [segment, tombs] : snapshot.parts) {
    if (!tombs) continue;
    writer.write(tombs->dead.data(), tombs->dead.size() * 8);
    writer.write(tombs->dead_df.data(), tombs->dead_df.size() * sizeof(uint32_t));
    constexpr uint32_t kNothing = 0;
    if (tombs->dead_df.size() % 2 != 0) writer.write(&kNothing, sizeof(kNothing));
  }
  writer.section();
  for (const Part& part : snapshot.parts) writer.write(part.segment->bytes().data(), part.segment->bytes().size());
  const Facts facts{kAnalysis, static_cast<uint32_t>(options.language), options.k1, options.b, snapshot.parts.size()};
  writer.finish(std::as_bytes(std::span(&facts, 1)));
}

LoadOutcome read_snapshot(const std::string& path, uint64_t generation, const IndexOptions& options,
                          std::shared_ptr<const Snapshot>& snapshot) {
  std::shared_ptr<const CheckedFile> file;
  LoadOutcome outcome = CheckedFile::open(path, kKind, generation, file);
  if (outcome.state != LoadState::kLoaded) return outcome;
  Facts facts;
  if (file->facts().size() != sizeof(facts) || file->sections() != 3)
    return {LoadState::kCorrupt, path + " has not the sections of a text index."};
  std::memcpy(&facts, file->facts().data(), sizeof(facts));
  if (facts.analysis != kAnalysis || facts.language != static_cast<uint32_t>(options.language) ||
      facts.k1 != options.k1 || facts.b != options.b)
    return {LoadState::kStale, path + " was made with another analysis, language, k1 or b."};
  auto read = std::make_shared<Snapshot>();
  if (!read_parts(file, facts.parts, *read))
    return {LoadState::kCorrupt, path + " has a part that contradicts itself."};
  read->count();
  snapshot = std::move(read);
  return outcome;
}

}  // namespace quern::text
