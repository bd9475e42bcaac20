// Compiled with -mavx512f -mavx512bw -mavx512vl -mavx512vnni -mfma -mf16c.
#include "kernels_avx512.hpp"

namespace quern::encoder {

const EncoderKernels kAvx512Encoder = kernels_of<Avx512>();

}  // namespace quern::encoder
