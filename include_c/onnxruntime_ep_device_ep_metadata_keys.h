/** Keys of the lists that devices, providers and compiled models carry. Providers may use further ones. */
#pragma once

/* ==== A provider with a device: EpDevice_EpMetadata ==== */

/** The version of the provider, as "1.2.3". Every provider has it. */
static const char* const kOrtEpDevice_EpMetadataKey_Version = "version";

/** The version of the system's driver for the device, four numbers: "31.0.101.4502". */
static const char* const kOrtEpDevice_EpMetadataKey_OSDriverVersion = "os_driver_version";

/** The file of the plugin library that the provider came from. */
static const char* const kOrtEpDevice_EpMetadataKey_LibraryPath = "library_path";

/* ==== A device: HardwareDevice_Metadata ==== */

/** "1" when there is no such device in the machine and a provider stands for it; "0", and the same without the key,
 *  otherwise. */
static const char* const kOrtHardwareDevice_MetadataKey_IsVirtual = "is_virtual";

/* ==== A compiled model: its metadata ==== */

/** Before the name of a provider: the text that GetModelCompatibilityForEpDevices judges. */
static const char* const kOrtModelMetadata_EpCompatibilityInfoPrefix = "ep_compatibility_info.";
