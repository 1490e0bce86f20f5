// Devices that providers can use, and descriptions of memory.
using System;
using System.Collections.Generic;

namespace Ortolan
{
    /// <summary>
    /// A provider and a piece of hardware that it can use. Facts about it stay readable; using it after its library was
    /// unregistered, or after its environment was closed, is an <see cref="ObjectDisposedException"/>.
    /// </summary>
    public sealed unsafe class Device
    {
        readonly object gate;  // held while the device is used or forgotten
        IntPtr address;

        internal Device(OrtolanEnvironment environment, object gate, IntPtr address)
        {
            Environment = environment;
            this.gate = gate;
            this.address = address;
            ProviderName = Utf8.Read(nativePINVOKE.device_provider(address));
            ProviderVendor = Utf8.Read(nativePINVOKE.device_provider_vendor(address));
            ProviderMetadata = Utf8.ReadSettings(nativePINVOKE.device_metadata(address));
            ProviderOptions = Utf8.ReadSettings(nativePINVOKE.device_settings(address));
            HardwareType = (HardwareType)nativePINVOKE.hardware_type(address);
            HardwareVendor = Utf8.Read(nativePINVOKE.hardware_vendor(address));
            HardwareVendorId = nativePINVOKE.hardware_vendor_id(address);
            HardwareId = nativePINVOKE.hardware_id(address);
            HardwareMetadata = Utf8.ReadSettings(nativePINVOKE.hardware_metadata(address));
        }

        /// <summary>Where the device was found.</summary>
        public OrtolanEnvironment Environment { get; }
        /// <summary>The provider, as <see cref="NodeAssignment.Provider"/> names it.</summary>
        public string ProviderName { get; }
        /// <summary>Who made the provider.</summary>
        public string ProviderVendor { get; }
        /// <summary>What the provider says about itself.</summary>
        public IReadOnlyDictionary<string, string> ProviderMetadata { get; }
        /// <summary>The options that the provider has for this device unless others are given.</summary>
        public IReadOnlyDictionary<string, string> ProviderOptions { get; }
        /// <summary>What the hardware is.</summary>
        public HardwareType HardwareType { get; }
        /// <summary>Who made the hardware.</summary>
        public string HardwareVendor { get; }
        /// <summary>The vendor's number, as PCI has it; 0 when unknown.</summary>
        public uint HardwareVendorId { get; }
        /// <summary>The model's number; devices of one model share it.</summary>
        public uint HardwareId { get; }
        /// <summary>What is known about the hardware.</summary>
        public IReadOnlyDictionary<string, string> HardwareMetadata { get; }

        /// <summary>The device's memory; null where that is plain CPU memory.</summary>
        /// <param name="sharedWithHost">Whether to ask for what the CPU reaches too.</param>
        public MemoryInfo Memory(bool sharedWithHost = false)
        {
            return Use(device =>
            {
                IntPtr memory = nativePINVOKE.device_memory(device, sharedWithHost ? 1 : 0);
                return memory == IntPtr.Zero ? null : new MemoryInfo(Environment.Handle, memory, this);
            });
        }

        /// <summary>Calls with the address while the device cannot go away.</summary>
        internal T Use<T>(Func<IntPtr, T> call)
        {
            lock (gate)
            {
                if (address == IntPtr.Zero) throw new ObjectDisposedException(nameof(Device), "the library of the provider " + ProviderName + " was unregistered");
                using (Environment.Handle.Use()) return call(address);
            }
        }

        /// <summary>The library is gone. Called with the gate held.</summary>
        internal void Forget()
        {
            address = IntPtr.Zero;
        }
    }

    /// <summary>
    /// A description of memory: whose it is, not the memory itself. Those of devices and sessions are parts of them; they
    /// keep the session or environment, and need no Dispose.
    /// </summary>
    public sealed unsafe class MemoryInfo : IDisposable
    {
        readonly Handle handle;
        readonly Device device;

        /// <summary>Describes memory by the name of its allocator, as "Cpu".</summary>
        public MemoryInfo(string name, AllocatorType allocator = AllocatorType.Arena, int deviceId = 0,
                          MemoryType type = MemoryType.Default)
        {
            fixed (byte* text = Utf8.Terminated(name, nameof(name)))
            {
                IntPtr made = nativePINVOKE.create_memory(text, (int)allocator, deviceId, (int)type, out IntPtr status);
                OrtolanException.Check(status);
                handle = new Handle(made, Release.Memory);
            }
        }

        /// <summary>A borrowed one: of a session, or of a device of an environment.</summary>
        internal MemoryInfo(Handle owner, IntPtr address, Device device = null)
        {
            handle = new Handle(address, Release.Nothing).Under(owner.Share());
            this.device = device;
        }

        /// <summary>The name of the allocator.</summary>
        public string Name => Use(memory =>
        {
            string name = Utf8.Read(nativePINVOKE.memory_name(memory, out IntPtr status));
            OrtolanException.Check(status);
            return name;
        });

        /// <summary>Which of several devices of one kind.</summary>
        public int DeviceId => Use(memory =>
        {
            int id = nativePINVOKE.memory_device_id(memory, out IntPtr status);
            OrtolanException.Check(status);
            return id;
        });

        /// <summary>The kind of device.</summary>
        public MemoryDeviceType DeviceType => Use(memory => (MemoryDeviceType)nativePINVOKE.memory_device_type(memory));

        /// <summary>Calls with the address while it is valid.</summary>
        internal T Use<T>(Func<IntPtr, T> call)
        {
            using (var memory = handle.Use())
            {
                IntPtr address = memory.Address;
                return device == null ? call(address) : device.Use(_ => call(address));
            }
        }

        /// <summary>Frees the description.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
