// The providers and devices of sessions.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Ortolan
{
    public sealed unsafe partial class SessionOptions
    {
        /// <summary>Gives sessions a provider; they ask providers in the order of these calls, and the CPU last.</summary>
        /// <param name="name">The provider.</param>
        /// <param name="settings">Its options; null for none.</param>
        /// <exception cref="OrtolanException">The provider is not there, or refuses the options.</exception>
        public void AppendProvider(string name, IEnumerable<KeyValuePair<string, string>> settings = null)
        {
            fixed (byte* text = Utf8.Terminated(name, nameof(name)))
            using (Handle pairs = Utf8.Settings(settings))
            using (var pairsInUse = pairs.Use())
            using (var options = Handle.Use())
            {
                nativePINVOKE.append_provider(options.Address, text, pairsInUse.Address, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>
        /// As <see cref="AppendProvider(string, IEnumerable{KeyValuePair{string, string}})"/>, for programs that can do
        /// without the provider: says whether sessions will have it. Wrong options are an exception all the same.
        /// </summary>
        public bool TryAppendProvider(string name, IEnumerable<KeyValuePair<string, string>> settings = null)
        {
            if (!IsAvailable(name)) return false;
            AppendProvider(name, settings);
            return true;
        }

        static bool IsAvailable(string name)
        {
            if (OrtolanLibrary.AvailableProviders.Contains(name)) return true;
            using (var environment = new OrtolanEnvironment())
                return environment.Devices.Any(device => device.ProviderName == name);
        }

        /// <summary>Gives sessions the provider of these devices, which must be of one provider.</summary>
        public void AppendProvider(IReadOnlyList<Device> devices,
                                   IEnumerable<KeyValuePair<string, string>> settings = null)
        {
            if (devices == null || devices.Count == 0 || devices.Contains(null))
                throw new ArgumentException("there must be at least one device, and none that is null", nameof(devices));
            using (Handle pairs = Utf8.Settings(settings))
                Append(devices.ToArray(), new IntPtr[devices.Count], 0, pairs);
        }

        /// <summary>Collects the addresses of the devices from <paramref name="next"/> on, each while it is in use.</summary>
        int Append(Device[] devices, IntPtr[] addresses, int next, Handle settings)
        {
            if (next < devices.Length)
            {
                return devices[next].Use(address =>
                {
                    addresses[next] = address;
                    return Append(devices, addresses, next + 1, settings);
                });
            }
            fixed (IntPtr* first = addresses)
            using (var environment = devices[0].Environment.Handle.Use())
            using (var pairs = settings.Use())
            using (var options = Handle.Use())
            {
                nativePINVOKE.append_provider_devices(options.Address, environment.Address, first, addresses.Length,
                                                      pairs.Address, out IntPtr status);
                OrtolanException.Check(status);
            }
            return next;
        }

        /// <summary>Sessions choose among the devices themselves, by this rule; null, and they do not, unless set.</summary>
        public DevicePolicy? DevicePolicy
        {
            get => known.DevicePolicy;
            set
            {
                Set(nativePINVOKE.set_device_policy, (int)(value ?? throw new ArgumentNullException(nameof(value))));
                known.DevicePolicy = value;
            }
        }
    }
}
