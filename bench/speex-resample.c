// Resamples one second of a tone with speexdsp so many times, and prints the processor seconds that it took.
#include <math.h>
#include <speex/speex_resampler.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int count, char** words) {
  if (count < 5) return 2;
  const unsigned from = atoi(words[1]), to = atoi(words[2]), rounds = atoi(words[4]);
  float* in = malloc(from * sizeof(float));
  float* out = malloc((to + 1000) * sizeof(float));
  for (unsigned i = 0; i < from; ++i) in[i] = 0.5f * sinf(0.05f * (float)i);
  int error = 0;
  SpeexResamplerState* state = speex_resampler_init(1, from, to, atoi(words[3]), &error);
  const clock_t began = clock();
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned at = 0; at < from;) {
      const unsigned piece = from / 10;
      unsigned taken = from - at < piece ? from - at : piece, made = to + 1000;
      speex_resampler_process_float(state, 0, in + at, &taken, out, &made);
      at += taken;
    }
  }
  printf("%f\n", (double)(clock() - began) / CLOCKS_PER_SEC);
  return 0;
}
