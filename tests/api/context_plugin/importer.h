// An importer of "graphics memory", which is files in memory here: their descriptors stand for memory, and for
// semaphores, whose value is the file's first eight bytes.
#pragma once

#include "onnxruntime_c_api.h"

/** NULL where something fails. With the variable ORTOLAN_BARE_IMPORTER it has no function but the one that ends it. */
OrtExternalResourceImporterImpl* make_importer(const OrtApi* api, const OrtEpDevice* device);

/** The imported objects and importers that there are. */
extern "C" int importer_objects();
