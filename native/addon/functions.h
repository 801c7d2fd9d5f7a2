// Parts of the module. Each function adds the functions of one part to the exports.
#pragma once

#include <napi.h>

namespace nixl_otel::addon {

using Info = Napi::CallbackInfo;

void addSources(Napi::Object exports);
void addSnapshot(Napi::Object exports);
void addRings(Napi::Object exports);
void addObservers(Napi::Object exports);
void addWriter(Napi::Object exports);
void addMemory(Napi::Object exports);
void addPage(Napi::Object exports);

}  // namespace nixl_otel::addon
