// Settings of sessions. SessionOptionsProviders.cs gives them providers.
using System;
using System.Collections.Generic;

namespace Ortolan
{
    /// <summary>
    /// Settings of sessions. Changed by one thread at a time; a session copies them when it is created, so later changes
    /// and Dispose do not touch it. Initializers and log functions stay alive as long as the options and their sessions.
    /// </summary>
    public sealed unsafe partial class SessionOptions : IDisposable
    {
        /// <summary>What was set, for the getters: the library does not tell.</summary>
        sealed class Known
        {
            public OptimizationLevel OptimizationLevel = OptimizationLevel.All;
            public ExecutionMode ExecutionMode;
            public int IntraOpThreads;
            public int InterOpThreads;
            public string ProfilePrefix;
            public bool MemoryPattern = true;
            public bool CpuArena = true;
            public bool Deterministic;
            public string LogId = "";
            public LogSeverity? LogSeverity;
            public int LogVerbosity;
            public string OptimizedModelPath;
            public DevicePolicy? DevicePolicy;

            public Known Copy() => (Known)MemberwiseClone();
        }

        readonly List<Handle> initializers = new List<Handle>();
        readonly Known known;
        LogSink log;

        /// <summary>The usual settings.</summary>
        public SessionOptions()
        {
            IntPtr made = nativePINVOKE.create_session_options(out IntPtr status);
            OrtolanException.Check(status);
            Handle = new Handle(made, ReleaseWithInitializers);
            known = new Known();
        }

        SessionOptions(SessionOptions original)
        {
            known = original.known.Copy();
            using (var options = original.Handle.Use())
            {
                IntPtr made = nativePINVOKE.clone_session_options(options.Address, out IntPtr status);
                OrtolanException.Check(status);
                Handle = new Handle(made, ReleaseWithInitializers);
                lock (original.initializers)
                {
                    foreach (Handle initializer in original.initializers) initializers.Add(initializer.Hold());
                }
                log = original.log;
            }
        }

        /// <summary>Other options with the same settings.</summary>
        public SessionOptions Clone()
        {
            return new SessionOptions(this);
        }

        internal Handle Handle { get; }

        /// <summary>What sessions must keep.</summary>
        internal LogSink Log => log;

        /// <summary>Shares of the initializers' values, for a session.</summary>
        internal Handle[] ShareInitializers()
        {
            lock (initializers) return Release.Share(initializers.ToArray());
        }

        void ReleaseWithInitializers(IntPtr options)
        {
            nativePINVOKE.release_session_options(options);
            lock (initializers) initializers.ForEach(initializer => initializer.Drop());
        }

        delegate void IntSetter(IntPtr options, int value, out IntPtr status);

        void Set(IntSetter setter, int value)
        {
            using (var options = Handle.Use())
            {
                setter(options.Address, value, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        delegate void TextSetter(IntPtr options, byte* value, out IntPtr status);

        void Set(TextSetter setter, byte[] value)
        {
            fixed (byte* text = value)
            using (var options = Handle.Use())
            {
                setter(options.Address, text, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>How far graphs are rewritten; All unless set.</summary>
        public OptimizationLevel OptimizationLevel
        {
            get => known.OptimizationLevel;
            set
            {
                Set(nativePINVOKE.set_optimization_level, (int)value);
                known.OptimizationLevel = value;
            }
        }

        /// <summary>Whether independent nodes run at once; Sequential unless set.</summary>
        public ExecutionMode ExecutionMode
        {
            get => known.ExecutionMode;
            set
            {
                Set(nativePINVOKE.set_execution_mode, (int)value);
                known.ExecutionMode = value;
            }
        }

        /// <summary>Threads within a node; 0, the machine's choice, unless set.</summary>
        public int IntraOpThreads
        {
            get => known.IntraOpThreads;
            set
            {
                Set(nativePINVOKE.set_intra_op_threads, value);
                known.IntraOpThreads = value;
            }
        }

        /// <summary>Threads for nodes at once; 0, the machine's choice, unless set.</summary>
        public int InterOpThreads
        {
            get => known.InterOpThreads;
            set
            {
                Set(nativePINVOKE.set_inter_op_threads, value);
                known.InterOpThreads = value;
            }
        }

        /// <summary>Sessions get no threads of their own but use the shared pools of the environment.</summary>
        public void UseEnvironmentThreads()
        {
            using (var options = Handle.Use())
            {
                nativePINVOKE.disable_session_threads(options.Address, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Profiles go to the file PREFIX_DATE.json; null, as it is unless set, for none.</summary>
        public string ProfilePrefix
        {
            get => known.ProfilePrefix;
            set
            {
                Set(nativePINVOKE.set_profiling, value == null ? null : Utf8.Terminated(value, nameof(value)));
                known.ProfilePrefix = value;
            }
        }

        /// <summary>Whether memory is planned ahead from the shapes of earlier runs; true unless set.</summary>
        public bool MemoryPattern
        {
            get => known.MemoryPattern;
            set
            {
                Set(nativePINVOKE.set_memory_pattern, value ? 1 : 0);
                known.MemoryPattern = value;
            }
        }

        /// <summary>Whether memory of the CPU comes from an arena, which keeps it; true unless set.</summary>
        public bool CpuArena
        {
            get => known.CpuArena;
            set
            {
                Set(nativePINVOKE.set_cpu_arena, value ? 1 : 0);
                known.CpuArena = value;
            }
        }

        /// <summary>Whether kernels must give the same bits in every run.</summary>
        public bool Deterministic
        {
            get => known.Deterministic;
            set
            {
                Set(nativePINVOKE.set_deterministic, value ? 1 : 0);
                known.Deterministic = value;
            }
        }

        /// <summary>The name of the session in log lines.</summary>
        public string LogId
        {
            get => known.LogId;
            set
            {
                Set(nativePINVOKE.set_session_log_id, Utf8.Terminated(value, nameof(value)));
                known.LogId = value;
            }
        }

        /// <summary>The least severity that the session logs; null, that of the environment, unless set.</summary>
        public LogSeverity? LogSeverity
        {
            get => known.LogSeverity;
            set
            {
                Set(nativePINVOKE.set_session_severity, (int)(value ?? throw new ArgumentNullException(nameof(value))));
                known.LogSeverity = value;
            }
        }

        /// <summary>How much a session with severity Verbose says.</summary>
        public int LogVerbosity
        {
            get => known.LogVerbosity;
            set
            {
                Set(nativePINVOKE.set_session_verbosity, value);
                known.LogVerbosity = value;
            }
        }

        /// <summary>Receives the log lines of the sessions; see <see cref="EnvironmentOptions.Log"/> for its duties.</summary>
        public void SetLog(Action<LogLine> handler)
        {
            var sink = new LogSink(handler ?? throw new ArgumentNullException(nameof(handler)));
            using (var options = Handle.Use())
            {
                nativePINVOKE.set_session_log(options.Address, LogSink.Address, (void*)sink.Number, out IntPtr status);
                OrtolanException.Check(status);
                log = sink;
            }
        }

        /// <summary>Where sessions write the model as they rewrote it; null, nowhere, unless set.</summary>
        public string OptimizedModelPath
        {
            get => known.OptimizedModelPath;
            set
            {
                Set(nativePINVOKE.set_optimized_model_path, Utf8.Terminated(value, nameof(value)));
                known.OptimizedModelPath = value;
            }
        }

        /// <summary>A setting by its key, as "session.intra_op.allow_spinning"; null where it is not set.</summary>
        public string this[string key]
        {
            get
            {
                fixed (byte* keyText = Utf8.Terminated(key, nameof(key)))
                using (var options = Handle.Use())
                {
                    byte* value = nativePINVOKE.session_setting(options.Address, keyText, out IntPtr status);
                    OrtolanException.Check(status);
                    return Utf8.Take(value);
                }
            }
            set
            {
                fixed (byte* keyText = Utf8.Terminated(key, nameof(key)), valueText = Utf8.Terminated(value, nameof(value)))
                using (var options = Handle.Use())
                {
                    nativePINVOKE.add_session_setting(options.Address, keyText, valueText, out IntPtr status);
                    OrtolanException.Check(status);
                }
            }
        }

        /// <summary>Whether sessions note which provider runs each node: <see cref="Session.NodeAssignments"/>.</summary>
        public bool RecordNodeAssignments
        {
            get => this["session.record_ep_graph_assignment_info"] == "1";
            set => this["session.record_ep_graph_assignment_info"] = value ? "1" : "0";
        }

        /// <summary>
        /// Whether a model that the appended providers cannot run whole is an error. Otherwise the CPU runs the rest.
        /// </summary>
        public bool DisableCpuFallback
        {
            get => this["session.disable_cpu_ep_fallback"] == "1";
            set => this["session.disable_cpu_ep_fallback"] = value ? "1" : "0";
        }

        /// <summary>Fixes the dimensions with that denotation.</summary>
        public void AddFreeDimension(string denotation, long size)
        {
            fixed (byte* text = Utf8.Terminated(denotation, nameof(denotation)))
            using (var options = Handle.Use())
            {
                nativePINVOKE.add_free_dimension(options.Address, text, size, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Fixes the symbolic dimension of that name.</summary>
        public void AddFreeDimensionByName(string name, long size)
        {
            fixed (byte* text = Utf8.Terminated(name, nameof(name)))
            using (var options = Handle.Use())
            {
                nativePINVOKE.add_free_dimension_by_name(options.Address, text, size, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>Gives the model's initializer of that name another value, whose elements must not change afterwards.</summary>
        public void AddInitializer(string name, Value value)
        {
            Handle held = Value.HandleOf(value, nameof(value)).Hold();
            try
            {
                fixed (byte* text = Utf8.Terminated(name, nameof(name)))
                using (var options = Handle.Use())
                {
                    nativePINVOKE.add_initializer(options.Address, text, held.DangerousGetHandle(), out IntPtr status);
                    OrtolanException.Check(status);
                    lock (initializers) initializers.Add(held);
                }
            }
            catch
            {
                held.Drop();
                throw;
            }
        }

        /// <summary>Loads a library of custom operators.</summary>
        public void RegisterCustomOperators(string libraryPath)
        {
            Set(nativePINVOKE.register_custom_operators, Utf8.Terminated(libraryPath, nameof(libraryPath)));
        }

        /// <summary>Frees the options; sessions that were made with them are not touched.</summary>
        public void Dispose()
        {
            Handle.Dispose();
        }
    }
}
