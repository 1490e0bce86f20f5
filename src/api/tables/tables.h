// The function tables that programs see, and the list of what stands in them.
#pragma once

#include <span>

#include "onnxruntime_c_api.h"
#include "ortolan.h"

namespace ortolan::api {

/** Each table is full: slots without an implementation hold a function that answers ORT_NOT_IMPLEMENTED, or zero. */
const OrtApi& ort_api() noexcept;
const OrtModelEditorApi& model_editor_api() noexcept;
const OrtCompileApi& compile_api() noexcept;
const OrtInteropApi& interop_api() noexcept;
const OrtModelPackageApi& model_package_api() noexcept;
const OrtEpApi& ep_api() noexcept;

/** Every slot of every table in table and slot order. */
std::span<const OrtApiSlot> coverage() noexcept;

}  // namespace ortolan::api
