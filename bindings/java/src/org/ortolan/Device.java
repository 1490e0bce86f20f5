// A device that a provider can use.
package org.ortolan;

import java.util.Map;
import java.util.Optional;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * A pair of an execution provider and a device it can use, as {@link Environment#devices()} lists them. What it says can
 * be read at any time; it can be used while its provider's library is registered and its environment open, and throws
 * {@link IllegalStateException} afterwards.
 */
public final class Device {
  final long address;
  private final Environment environment;
  private final String provider;
  private final String providerVendor;
  private final Map<String, String> metadata;
  private final Map<String, String> settings;
  private final HardwareType hardwareType;
  private final String hardwareVendor;
  private final long hardwareVendorId;
  private final long hardwareId;
  private final Map<String, String> hardwareMetadata;

  /** Reads a device that is there. */
  Device(Environment environment, long address) {
    this.environment = environment;
    this.address = address;
    provider = Native.device_provider(address);
    providerVendor = Native.device_provider_vendor(address);
    metadata = Texts.readSettings(Native.device_metadata(address));
    settings = Texts.readSettings(Native.device_settings(address));
    hardwareType = HardwareType.of(Native.hardware_type(address));
    hardwareVendor = Native.hardware_vendor(address);
    hardwareVendorId = Native.hardware_vendor_id(address);
    hardwareId = Native.hardware_id(address);
    hardwareMetadata = Texts.readSettings(Native.hardware_metadata(address));
  }

  void requirePresent() {
    if (!environment.has(this)) {
      throw new IllegalStateException("the device of " + provider + " is gone: its library was unregistered");
    }
  }

  /**
   * The execution provider.
   *
   * @return its name
   */
  public String provider() {
    return provider;
  }

  /**
   * Who made the provider.
   *
   * @return the vendor
   */
  public String providerVendor() {
    return providerVendor;
  }

  /**
   * What the provider says about itself on this device.
   *
   * @return texts by key
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * The settings that the provider would use.
   *
   * @return values by key
   */
  public Map<String, String> settings() {
    return settings;
  }

  /**
   * What the device is.
   *
   * @return the kind
   */
  public HardwareType hardwareType() {
    return hardwareType;
  }

  /**
   * Who made the device.
   *
   * @return the vendor
   */
  public String hardwareVendor() {
    return hardwareVendor;
  }

  /**
   * The number of the device's vendor, on PCI mostly.
   *
   * @return the number
   */
  public long hardwareVendorId() {
    return hardwareVendorId;
  }

  /**
   * The number of the device's model, on PCI mostly.
   *
   * @return the number
   */
  public long hardwareId() {
    return hardwareId;
  }

  /**
   * What is known about the device.
   *
   * @return texts by key
   */
  public Map<String, String> hardwareMetadata() {
    return hardwareMetadata;
  }

  /**
   * The memory of the device.
   *
   * @param sharedWithHost whether to ask for what the CPU reaches too
   * @return the memory; empty where it is plain CPU memory
   */
  public Optional<MemoryInfo> memory(boolean sharedWithHost) {
    requirePresent();
    return environment.handle.with(ignored -> {
      long memory = Native.device_memory(address, sharedWithHost ? 1 : 0);
      return Optional.ofNullable(memory == 0 ? null : MemoryInfo.borrowed(memory, environment.handle, this));
    });
  }

  @Override
  public String toString() {
    return provider + " on " + hardwareType + " of " + hardwareVendor;
  }
}
