#include "pair_loops.hpp"

namespace quern {

const PairSteps& pair_steps_avx2();

const PairSteps& pair_steps_avx2() {
  return kPairSteps<32>;
}

}  // namespace quern
