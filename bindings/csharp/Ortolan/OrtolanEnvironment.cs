// The environment: logging, shared threads, provider libraries and their devices.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Ortolan
{
    /// <summary>Settings of an environment.</summary>
    public sealed class EnvironmentOptions
    {
        /// <summary>Lines of at least this severity are written. Warning unless set.</summary>
        public LogSeverity LogSeverity { get; set; } = LogSeverity.Warning;

        /// <summary>The name of the program in log lines.</summary>
        public string LogId { get; set; } = "ortolan";

        /// <summary>
        /// Receives the log lines, on any thread, also while objects are being closed; without it they go to stderr. It
        /// must not throw (what it throws is dropped) and must not close objects of the library.
        /// </summary>
        public Action<LogLine> Log { get; set; }

        /// <summary>
        /// Whether the sessions whose options say <see cref="SessionOptions.UseEnvironmentThreads"/> share two pools of
        /// threads, of the sizes below.
        /// </summary>
        public bool SharedThreadPools { get; set; }

        /// <summary>Threads within a node; 0 is the machine's choice. For shared pools.</summary>
        public int IntraOpThreads { get; set; }

        /// <summary>Threads for nodes at once; 0 is the machine's choice. For shared pools.</summary>
        public int InterOpThreads { get; set; }

        /// <summary>Whether idle threads of shared pools wait busily for a while, which starts runs faster.</summary>
        public bool Spin { get; set; }
    }

    /// <summary>
    /// The environment of the process. There is one: all objects of this class are shares of it, it is made by the first
    /// and ends with the last of them and of the sessions. Its log id, log function and thread pools are those of the
    /// first, so a program that sets them creates an environment before its first session. All members may be called by
    /// any thread.
    /// </summary>
    public sealed unsafe class OrtolanEnvironment : IDisposable
    {
        static readonly object gate = new object();
        static readonly Action<IntPtr> release = ReleaseOne;
        static OrtolanEnvironment shared;
        static int alive;
        static readonly List<LogSink> kept = new List<LogSink>();  // as long as the process's environment lives

        readonly object devicesGate = new object();
        readonly Dictionary<IntPtr, Device> devices = new Dictionary<IntPtr, Device>();

        /// <summary>A share of the environment; its first object makes it with these settings.</summary>
        /// <exception cref="InvalidOperationException">The options have a log function or shared pools, and the process
        /// has an environment already.</exception>
        public OrtolanEnvironment(EnvironmentOptions options = null)
        {
            Handle = Open(options ?? new EnvironmentOptions());
            if (options != null) SetLogSeverity(options.LogSeverity);
        }

        /// <summary>The environment of programs that need only one; never closed.</summary>
        public static OrtolanEnvironment Default
        {
            get
            {
                lock (gate)
                {
                    return shared ?? (shared = new OrtolanEnvironment());
                }
            }
        }

        internal Handle Handle { get; }

        /// <summary>A share for one session.</summary>
        internal static Handle Open(EnvironmentOptions options)
        {
            lock (gate)
            {
                bool special = options.Log != null || options.SharedThreadPools;
                if (special && alive != 0)
                    throw new InvalidOperationException(
                        "the process has an environment already, whose log function and threads cannot change; create " +
                        "this one before the first session and before OrtolanEnvironment.Default");
                LogSink sink = options.Log == null ? null : new LogSink(options.Log);
                IntPtr made = Create(options, sink);
                if (sink != null) kept.Add(sink);
                ++alive;
                return new Handle(made, release);
            }
        }

        static IntPtr Create(EnvironmentOptions options, LogSink sink)
        {
            fixed (byte* id = Utf8.Terminated(options.LogId, nameof(options)))
            {
                IntPtr made = nativePINVOKE.create_environment(
                    (int)options.LogSeverity, id, sink == null ? IntPtr.Zero : LogSink.Address,
                    (void*)(sink == null ? 0 : sink.Number), options.SharedThreadPools ? 1 : 0, options.IntraOpThreads,
                    options.InterOpThreads, options.Spin ? 1 : 0, out IntPtr status);
                OrtolanException.Check(status);
                return made;
            }
        }

        static void ReleaseOne(IntPtr environment)
        {
            lock (gate)
            {
                nativePINVOKE.release_environment(environment);
                if (--alive == 0) kept.Clear();
            }
        }

        /// <summary>Lines of at least this severity are written from now on, for all of the process.</summary>
        public void SetLogSeverity(LogSeverity severity)
        {
            using (var environment = Handle.Use())
            {
                nativePINVOKE.set_environment_severity(environment.Address, (int)severity, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Loads a library of providers; its devices are then among <see cref="Devices"/>.</summary>
        /// <param name="name">What the program calls the library.</param>
        /// <param name="path">The file.</param>
        public void RegisterProviderLibrary(string name, string path)
        {
            fixed (byte* nameText = Utf8.Terminated(name, nameof(name)), pathText = Utf8.Terminated(path, nameof(path)))
            using (var environment = Handle.Use())
            {
                nativePINVOKE.register_provider_library(environment.Address, nameText, pathText, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Unloads a library of providers, once no session uses it. Its devices cannot be used afterwards.</summary>
        public void UnregisterProviderLibrary(string name)
        {
            fixed (byte* nameText = Utf8.Terminated(name, nameof(name)))
            using (var environment = Handle.Use())
            {
                lock (devicesGate)
                {
                    nativePINVOKE.unregister_provider_library(environment.Address, nameText, out IntPtr status);
                    OrtolanException.Check(status);
                    ForgetDevices(Addresses(environment.Address));
                }
            }
        }

        /// <summary>Gives a provider to every later session whose options name none.</summary>
        /// <param name="name">The provider.</param>
        /// <param name="settings">Its options; null for none.</param>
        /// <param name="required">Whether sessions that cannot have it fail.</param>
        public void AppendProvider(string name, IEnumerable<KeyValuePair<string, string>> settings = null,
                                   bool required = true)
        {
            fixed (byte* nameText = Utf8.Terminated(name, nameof(name)))
            using (Handle pairs = Utf8.Settings(settings))
            using (var pairsInUse = pairs.Use())
            using (var environment = Handle.Use())
            {
                nativePINVOKE.append_environment_provider(environment.Address, nameText, pairsInUse.Address,
                                                          required ? 1 : 0, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Takes back what <see cref="AppendProvider"/> gave.</summary>
        public void ClearProviders()
        {
            using (var environment = Handle.Use())
            {
                nativePINVOKE.clear_environment_providers(environment.Address, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>The pairs of provider and hardware that sessions can have; the CPU is among them.</summary>
        public IReadOnlyList<Device> Devices
        {
            get
            {
                using (var environment = Handle.Use())
                {
                    lock (devicesGate)
                    {
                        IntPtr[] addresses = Addresses(environment.Address);
                        ForgetDevices(addresses);
                        return addresses.Select(Known).ToArray();
                    }
                }
            }
        }

        Device Known(IntPtr address)
        {
            if (!devices.TryGetValue(address, out Device device))
                devices[address] = device = new Device(this, devicesGate, address);
            return device;
        }

        static IntPtr[] Addresses(IntPtr environment)
        {
            var addresses = new IntPtr[nativePINVOKE.device_count(environment, out IntPtr status)];
            OrtolanException.Check(status);
            for (int i = 0; i < addresses.Length; ++i)
            {
                addresses[i] = nativePINVOKE.device_at(environment, i, out status);
                OrtolanException.Check(status);
            }
            return addresses;
        }

        void ForgetDevices(IntPtr[] present)
        {
            foreach (IntPtr gone in devices.Keys.Except(present).ToArray())
            {
                devices[gone].Forget();
                devices.Remove(gone);
            }
        }

        /// <summary>Gives the share back. Sessions keep the environment as long as they need it.</summary>
        public void Dispose()
        {
            if (this != shared) Handle.Dispose();
        }
    }
}
