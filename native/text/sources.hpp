#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cursor.hpp"
#include "query.hpp"
#include "snapshot.hpp"

namespace quern::text {

/// A clause over one snapshot: how much it weighs, and where it occurs.
struct Source {
  Occur occur = Occur::kShould;
  double weight = 0;
  struct InPart {
    std::optional<uint32_t> term;         ///< of the segment
    std::shared_ptr<const DocList> list;  ///< living documents, worked out
  };
  std::vector<InPart> parts;  ///< one per part; neither = it does not occur there
};

/// Looks a clause up in every part.
Source find_source(const Snapshot& snapshot, const Clause& clause);

}  // namespace quern::text
