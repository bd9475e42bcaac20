#include "pair_loops.hpp"

namespace quern {

const PairSteps& pair_steps_avx512();

const PairSteps& pair_steps_avx512() {
  return kPairSteps<64>;
}

}  // namespace quern
