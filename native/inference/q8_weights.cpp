#include "q8_weights.hpp"

#if defined(__x86_64__) && !defined(_WIN32)
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ggml-backend-impl.h"
#include "ggml-cpu-impl.h"
#include "ggml.h"
#include "kernels/q8_matmul.hpp"
#include "traits.h"

// The CPU library keeps these to itself; its header makes whoever derives from the classes define them.
namespace ggml::cpu {
tensor_traits::~tensor_traits() = default;
extra_buffer_type::~extra_buffer_type() = default;
}  // namespace ggml::cpu

namespace quern {
namespace {

/// Panels of a chunk stay in the second-level cache while all columns pass.
constexpr int64_t CHUNK_BYTES = 256 * 1024;
/// A thread that was held up leaves its chunks to the others.
constexpr int64_t CHUNKS_PER_THREAD = 4;

/// What the loaded CPU library exports for its own parts.
struct CpuLibrary {
  std::vector<ggml_backend_buffer_type_t>& (*extra_buffer_types)() = nullptr;
  void (*barrier)(ggml_threadpool*) = nullptr;
  void (*chunk_set)(ggml_threadpool*, int) = nullptr;
  int (*chunk_add)(ggml_threadpool*, int) = nullptr;

  bool complete() const { return extra_buffer_types && barrier && chunk_set && chunk_add; }
};

CpuLibrary library;
const q8::Kernel* kernel = nullptr;
std::atomic<bool> gives_back = false;
std::atomic<bool> locks = false;

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

CpuLibrary find_library() {
  CpuLibrary found;
  ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");
  Dl_info where;
  if (cpu == nullptr || dladdr(reinterpret_cast<void*>(cpu->iface.get_name), &where) == 0) return found;
  void* handle = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return found;
  find(handle, "_Z39ggml_backend_cpu_get_extra_buffer_typesv", found.extra_buffer_types);
  find(handle, "ggml_barrier", found.barrier);
  find(handle, "ggml_threadpool_chunk_set", found.chunk_set);
  find(handle, "ggml_threadpool_chunk_add", found.chunk_add);
  return found;
}

bool packable(const ggml_tensor* weights) {
  return weights->type == GGML_TYPE_Q8_0 && ggml_n_dims(weights) == 2 && weights->ne[1] % q8::PANEL_ROWS == 0 &&
         ggml_is_contiguous(weights);
}

/// The columns of `src1`, quantised into the work buffer by all threads, then chunks of panels, each taken by the
/// thread that is free.
void multiply(ggml_compute_params* params, ggml_tensor* out) {
  const ggml_tensor* weights = out->src[0];
  const ggml_tensor* input = out->src[1];
  const int64_t blocks = weights->ne[0] / q8::BLOCK;
  const int64_t columns = ggml_nrows(input);
  auto* quantised = static_cast<uint8_t*>(params->wdata);

  const int64_t all = columns * blocks;
  for (int64_t at = all * params->ith / params->nth, end = all * (params->ith + 1) / params->nth; at < end;) {
    const int64_t column = at / blocks;
    const int64_t first = at % blocks;
    const int64_t last = std::min(blocks, first + end - at);
    const int64_t i1 = column % input->ne[1];
    const int64_t i2 = column / input->ne[1] % input->ne[2];
    const int64_t i3 = column / (input->ne[1] * input->ne[2]);
    const auto* values =
        static_cast<const char*>(input->data) + i1 * input->nb[1] + i2 * input->nb[2] + i3 * input->nb[3];
    kernel->quantize(reinterpret_cast<const float*>(values), blocks, first, last,
                     quantised + static_cast<size_t>(column) * q8::column_bytes(blocks));
    at += last - first;
  }

  const int64_t panels = weights->ne[1] / q8::PANEL_ROWS;
  const auto panel_bytes = static_cast<int64_t>(q8::panel_bytes(blocks));
  const int64_t cached = std::max<int64_t>(1, CHUNK_BYTES / panel_bytes);
  const int64_t shared = (panels + params->nth * CHUNKS_PER_THREAD - 1) / (params->nth * CHUNKS_PER_THREAD);
  const int64_t size = std::min(cached, shared);
  const int64_t chunks = (panels + size - 1) / size;
  if (params->ith == 0) library.chunk_set(params->threadpool, params->nth);
  library.barrier(params->threadpool);
  for (int64_t chunk = params->ith; chunk < chunks; chunk = library.chunk_add(params->threadpool, 1)) {
    const int64_t first = chunk * size;
    kernel->multiply({.panels = static_cast<const uint8_t*>(weights->data) + first * panel_bytes,
                      .columns = quantised,
                      .out = static_cast<float*>(out->data) + first * q8::PANEL_ROWS,
                      .panel_count = std::min(size, panels - first),
                      .column_count = columns,
                      .blocks = blocks,
                      .out_stride = static_cast<int64_t>(out->nb[1] / sizeof(float))});
  }
}

class Q8Product : public ggml::cpu::tensor_traits {
  bool work_size(int, const ggml_tensor* op, size_t& size) override {
    size = static_cast<size_t>(ggml_nrows(op->src[1])) * q8::column_bytes(op->src[0]->ne[0] / q8::BLOCK);
    return true;
  }
  bool compute_forward(ggml_compute_params* params, ggml_tensor* op) override {
    multiply(params, op);
    return true;
  }
};

bool holds(const ggml_tensor* tensor);

class Q8Weights : public ggml::cpu::extra_buffer_type {
  bool supports_op(ggml_backend_dev_t, const ggml_tensor* op) override {
    const ggml_tensor* input = op->src[1];
    return op->op == GGML_OP_MUL_MAT && holds(op->src[0]) && packable(op->src[0]) && input->type == GGML_TYPE_F32 &&
           input->nb[0] == sizeof(float) &&
           (input->buffer == nullptr || ggml_backend_buft_is_host(input->buffer->buft)) && ggml_is_contiguous(op);
  }
  ggml::cpu::tensor_traits* get_tensor_traits(const ggml_tensor* op) override {
    return op->op == GGML_OP_MUL_MAT && holds(op->src[0]) ? &product_ : nullptr;
  }
  Q8Product product_;
};

/// Takes whole pages of a mapped file out of this process's memory; whoever reads them again gets them from the file.
void give_back(const void* mapped, size_t size) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t end = (start + size) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

void set_tensor(ggml_backend_buffer_t, ggml_tensor* tensor, const void* rows, size_t offset, size_t size) {
  GGML_ASSERT(offset == 0 && size == ggml_nbytes(tensor));
  const int64_t blocks = tensor->ne[0] / q8::BLOCK;
  for (int64_t panel = 0; panel < tensor->ne[1] / q8::PANEL_ROWS; ++panel)
    q8::pack_panel(static_cast<const q8::Block*>(rows) + panel * q8::PANEL_ROWS * blocks, blocks,
                   static_cast<uint8_t*>(tensor->data) + static_cast<size_t>(panel) * q8::panel_bytes(blocks));
  if (gives_back) give_back(rows, size);
}

ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, size_t size) {
  ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
  if (buffer == nullptr) return nullptr;
  // The engine locks only what other code may read. Whether the system let it is read from the system later.
  if (locks && size > 0) mlock(ggml_backend_buffer_get_base(buffer), size);
  buffer->buft = type;
  buffer->iface.set_tensor = set_tensor;
  buffer->iface.get_tensor = nullptr;
  buffer->iface.cpy_tensor = nullptr;
  return buffer;
}

ggml_backend_buffer_type_t buffer_type() {
  // Never destroyed: a thread may still be computing when the process ends.
  static auto* const weights = new Q8Weights;
  static ggml_backend_buffer_type type{
      .iface = {.get_name = [](ggml_backend_buffer_type_t) { return "CPU_Q8_PANELS"; },
                .alloc_buffer = allocate,
                .get_alignment = [](ggml_backend_buffer_type_t) -> size_t { return 64; },
                .get_max_size = nullptr,
                .get_alloc_size = nullptr,
                .is_host = nullptr},
      .device = ggml_backend_reg_dev_get(ggml_backend_reg_by_name("CPU"), 0),
      .context = static_cast<ggml::cpu::extra_buffer_type*>(weights),
  };
  return &type;
}

bool holds(const ggml_tensor* tensor) {
  return tensor->buffer != nullptr && tensor->buffer->buft == buffer_type();
}

const char* try_register() {
  const q8::Kernel* fastest = q8::available().list[0];
  if (fastest == &q8::SCALAR || std::getenv("QUERN_PLAIN_Q8") != nullptr) return nullptr;
  library = find_library();
  if (!library.complete()) return nullptr;
  kernel = fastest;
  // After the backend's own types, so that matrix units (AMX) keep what they can take.
  library.extra_buffer_types().push_back(buffer_type());
  return kernel->name;
}

}  // namespace

const char* register_q8_weights() {
  static const char* const name = try_register();
  return name;
}

void expect_q8_weights(bool mapped, bool locked) {
  gives_back = mapped;
  locks = locked;
}

}  // namespace quern

#else

namespace quern {
const char* register_q8_weights() {
  return nullptr;
}
void expect_q8_weights(bool, bool) {}
}  // namespace quern

#endif
