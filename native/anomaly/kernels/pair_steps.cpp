#include "pair_steps.hpp"

#include "pair_loops.hpp"

namespace quern {

const PairSteps& pair_steps_avx2();
const PairSteps& pair_steps_avx512();

const PairSteps& pair_steps(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return pair_steps_avx512();
  if (isa == Isa::kAvx2) return pair_steps_avx2();
#endif
  static_cast<void>(isa);
  return kPairSteps<16>;
}

}  // namespace quern
