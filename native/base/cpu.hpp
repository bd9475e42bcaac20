#pragma once

#include <cstddef>

#if defined(__linux__) && defined(QUERN_AMX)
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Instruction sets of one function: the rest of the program stays runnable everywhere, the choice falls at run time.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define QUERN_X86 1
#define QUERN_AVX2 __attribute__((target("avx2,fma,f16c")))
#define QUERN_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")))
#define QUERN_SSE42 __attribute__((target("sse4.2")))
#endif

namespace quern {

/// Asks for memory that is read soon: what lies far apart then arrives at the same time.
inline void prefetch([[maybe_unused]] const void* from, [[maybe_unused]] size_t bytes = 1) {
#if defined(__GNUC__) || defined(__clang__)
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at);
#endif
}

/// The widest instruction set that a kernel may use. Tiles (AMX) are for the kernels that name them.
enum class Isa { kPortable, kAvx2, kAvx512, kAmx };

/// What this processor runs, without tiles.
inline Isa best_isa() {
#ifdef QUERN_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni"))
    return Isa::kAvx512;
  // Clang has no name for f16c, which came with every processor that has AVX2.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::kAvx2;
#endif
  return Isa::kPortable;
}

/// Whether this processor multiplies tiles of bytes, and the kernel grants their registers, which it has to be asked
/// for once in a process.
inline bool tiles_granted() {
#if defined(__linux__) && defined(QUERN_AMX)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool granted = best_isa() == Isa::kAvx512 && __builtin_cpu_supports("amx-tile") &&
                              __builtin_cpu_supports("amx-int8") &&
                              syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace quern
