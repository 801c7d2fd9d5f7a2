// Parts of the module: each adds its functions to the exports.
#pragma once

#include <napi.h>

namespace nixl_otel::addon {

void addSources(Napi::Object exports);
void addSnapshot(Napi::Object exports);
void addRings(Napi::Object exports);
void addObservers(Napi::Object exports);
void addWriter(Napi::Object exports);

}  // namespace nixl_otel::addon
