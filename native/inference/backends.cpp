#include "backends.hpp"

#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "../base/failure.hpp"
#include "engine_log.hpp"
#include "llama.h"
#include "q8_weights.hpp"

namespace quern {
namespace {

namespace fs = std::filesystem;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// True for a plug-in such as libggml-vulkan.so; the base library and the CPU variants are not plug-ins.
bool is_plug_in(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension != ".so" && extension != ".dylib" && extension != ".dll") return false;
  std::string stem = file.stem().string();
  if (starts_with(stem, "lib")) stem.erase(0, 3);
  return starts_with(stem, "ggml-") && !starts_with(stem, "ggml-cpu") && !starts_with(stem, "ggml-base");
}

bool has_cpu() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr;
}

void load_folder(const std::string& folder, std::set<std::string>& loaded) {
  std::error_code error;
  // Picks the best CPU variant, and the plug-ins by name.
  if (!has_cpu()) ggml_backend_load_all_from_path(folder.c_str());
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_plug_in(entry.path())) files.insert(entry.path());
  for (const fs::path& file : files) {
    // The same plug-in from a second folder would list each device twice.
    std::string name = file.stem().string();
    if (starts_with(name, "lib")) name.erase(0, 3);
    if (!loaded.insert(name).second) continue;
    const std::string backend = name.substr(std::string_view("ggml-").size());
    bool known = false;
    for (size_t i = 0; i < ggml_backend_reg_count() && !known; ++i) {
      std::string registered = ggml_backend_reg_name(ggml_backend_reg_get(i));
      for (char& c : registered) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      known = registered == backend;
    }
    if (!known) ggml_backend_load(file.string().c_str());
  }
}

}  // namespace

std::vector<Device> load_backends(const std::vector<std::string>& folders) {
  static std::mutex mutex;
  static std::set<std::string> plug_ins;
  const std::lock_guard lock(mutex);
  for (const std::string& folder : folders) load_folder(folder, plug_ins);
  // Plug-ins without their driver leave error lines that concern nobody later.
  const std::string errors = take_engine_errors();
  if (!has_cpu())
    throw Failure("unavailable", "No CPU library of the inference engine could be loaded" +
                                     (errors.empty() ? std::string() : ": " + errors) +
                                     ". Run npm ci again to restore node_modules/@node-llama-cpp.");
  return devices();
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    const auto type = ggml_backend_dev_type(device);
    const char* kind = type == GGML_BACKEND_DEVICE_TYPE_CPU                                            ? "cpu"
                       : type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU ? "gpu"
                                                                                                       : "accel";
    std::string description = ggml_backend_dev_description(device);
    const char* kernel = type == GGML_BACKEND_DEVICE_TYPE_CPU ? register_q8_weights() : nullptr;
    if (kernel != nullptr) description += std::string(", Q8_0 by our kernel for ") + kernel;
    all.push_back({ggml_backend_dev_name(device), description, kind, total});
  }
  return all;
}

}  // namespace quern
