// Where memory is.
package org.ortolan;

import java.util.Objects;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Native;

/**
 * A description of memory: the CPU's or a device's. One that a tensor, a session or a device gave can be used as long as
 * that is open; what it says can be read at any time. Only those made by a constructor need be closed.
 */
public final class MemoryInfo extends NativeObject {
  /** Kinds of devices that memory belongs to. */
  public enum DeviceType {
    /** What Java can read. */
    CPU,
    /** A graphics processor. */
    GPU,
    /** Programmable gates. */
    FPGA,
    /** A processor for neural networks. */
    NPU
  }

  private final Handle owner; // whose memory this describes; null: its own
  private final Device device; // not null: what must still be there
  private final String name;
  private final int deviceId;
  private final DeviceType deviceType;

  /** Memory of the CPU. */
  public MemoryInfo() {
    this("Cpu", 0);
  }

  /**
   * Memory by the name that its provider gave it.
   *
   * @param name the name
   * @param deviceId which of the devices with such memory
   */
  public MemoryInfo(String name, int deviceId) {
    this(new Handle("memory description", Native.create_memory(Objects.requireNonNull(name, "name"), 1, deviceId, 0),
        Native::release_memory), null, null);
  }

  private MemoryInfo(Handle handle, Handle owner, Device device) {
    super(handle);
    this.owner = owner;
    this.device = device;
    name = handle.with(Native::memory_name);
    deviceId = handle.with(Native::memory_device_id);
    deviceType = DeviceType.values()[handle.<Integer>with(Native::memory_device_type)];
  }

  /** A description that belongs to the owner, which the caller is using. */
  static MemoryInfo borrowed(long address, Handle owner, Device device) {
    return new MemoryInfo(new Handle("memory description", address, ignored -> {}), owner, device);
  }

  /**
   * The name of the memory.
   *
   * @return what its provider calls it; "Cpu" for the CPU's
   */
  public String name() {
    return name;
  }

  /**
   * Which of the devices with such memory it is.
   *
   * @return a number from 0
   */
  public int deviceId() {
    return deviceId;
  }

  /**
   * What it is the memory of.
   *
   * @return the kind of device
   */
  public DeviceType deviceType() {
    return deviceType;
  }

  /** The address, once it is known that what it describes is there still. */
  long addTo(InUse used) {
    if (owner != null) {
      used.add(owner);
    }
    if (device != null) {
      device.requirePresent();
    }
    return used.add(this);
  }
}
