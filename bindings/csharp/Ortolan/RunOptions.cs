// Settings of runs, and how to end one early.
using System;
using System.Threading;

namespace Ortolan
{
    /// <summary>Settings of runs. Any thread may set <see cref="Terminate"/>, also during runs.</summary>
    public sealed unsafe class RunOptions : IDisposable
    {
        volatile bool terminate;

        /// <summary>The usual settings.</summary>
        public RunOptions()
        {
            IntPtr made = nativePINVOKE.create_run_options(out IntPtr status);
            OrtolanException.Check(status);
            Handle = new Handle(made, Release.RunOptions);
        }

        internal Handle Handle { get; }

        /// <summary>The name of the runs in log lines.</summary>
        public string Tag
        {
            get
            {
                using (var options = Handle.Use())
                {
                    string tag = Utf8.Read(nativePINVOKE.run_tag(options.Address, out IntPtr status));
                    OrtolanException.Check(status);
                    return tag;
                }
            }
            set
            {
                fixed (byte* text = Utf8.Terminated(value, nameof(value)))
                using (var options = Handle.Use())
                {
                    nativePINVOKE.set_run_tag(options.Address, text, out IntPtr status);
                    OrtolanException.Check(status);
                }
            }
        }

        /// <summary>The least severity that the runs log.</summary>
        public LogSeverity LogSeverity
        {
            get => (LogSeverity)Get(nativePINVOKE.run_severity);
            set => Set(nativePINVOKE.set_run_severity, (int)value);
        }

        /// <summary>How much runs with severity Verbose say.</summary>
        public int LogVerbosity
        {
            get => Get(nativePINVOKE.run_verbosity);
            set => Set(nativePINVOKE.set_run_verbosity, value);
        }

        /// <summary>
        /// True: runs with these options end soon with an <see cref="OrtolanException"/>, those in progress on other
        /// threads too. False takes it back.
        /// </summary>
        public bool Terminate
        {
            get => terminate;
            set
            {
                Set(nativePINVOKE.set_terminate, value ? 1 : 0);
                terminate = value;
            }
        }

        /// <summary>Sets <see cref="Terminate"/> when the token is cancelled, until the result is disposed.</summary>
        public CancellationTokenRegistration TerminateOn(CancellationToken token)
        {
            return token.Register(() =>
            {
                try
                {
                    Terminate = true;
                }
                catch (ObjectDisposedException)
                {
                    // Closed options have no runs left to end.
                }
            });
        }

        /// <summary>A setting by its key, as "memory.enable_memory_arena_shrinkage".</summary>
        public void AddSetting(string key, string value)
        {
            fixed (byte* keyText = Utf8.Terminated(key, nameof(key)), valueText = Utf8.Terminated(value, nameof(value)))
            using (var options = Handle.Use())
            {
                nativePINVOKE.add_run_setting(options.Address, keyText, valueText, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        delegate int Getter(IntPtr options, out IntPtr status);

        int Get(Getter getter)
        {
            using (var options = Handle.Use())
            {
                int value = getter(options.Address, out IntPtr status);
                OrtolanException.Check(status);
                return value;
            }
        }

        delegate void Setter(IntPtr options, int value, out IntPtr status);

        void Set(Setter setter, int value)
        {
            using (var options = Handle.Use())
            {
                setter(options.Address, value, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Frees the options once no run uses them.</summary>
        public void Dispose()
        {
            Handle.Dispose();
        }
    }
}
