// Sessions: how they are made, and what they say about their model. SessionRun.cs runs them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;

namespace Ortolan
{
    /// <summary>
    /// A model made ready to run. Any number of threads may run it at once. Dispose ends it once no run uses it; runs that
    /// begin later throw <see cref="ObjectDisposedException"/>. (Mono ends a process only after the runs in progress:
    /// programs that leave during a long run set <see cref="RunOptions.Terminate"/> first.)
    /// </summary>
    public sealed unsafe partial class Session : IDisposable
    {
        readonly IntPtr feedList, outputList;  // freed with the session
        readonly Dictionary<string, int> feedNumbers, outputNumbers;

        /// <summary>A session for the model in a file.</summary>
        /// <param name="path">The file.</param>
        /// <param name="options">Settings; null for the usual ones.</param>
        /// <param name="environment">Its environment; null for the process's.</param>
        public Session(string path, SessionOptions options = null, OrtolanEnvironment environment = null)
            : this(Utf8.Terminated(path, nameof(path)), false, options, environment)
        {
        }

        /// <summary>
        /// A session for the model in an array. The array may change afterwards, unless the options have
        /// session.use_ort_model_bytes_directly = 1: then the session reads it as long as it lives.
        /// </summary>
        /// <param name="model">The bytes of a model file.</param>
        /// <param name="options">Settings; null for the usual ones.</param>
        /// <param name="environment">Its environment; null for the process's.</param>
        public Session(byte[] model, SessionOptions options = null, OrtolanEnvironment environment = null)
            : this(model ?? throw new ArgumentNullException(nameof(model)), true, options, environment)
        {
        }

        Session(byte[] model, bool isContent, SessionOptions options, OrtolanEnvironment environment)
        {
            Handle[] parents = Parents(options, environment);
            GCHandle pin = GCHandle.Alloc(model, GCHandleType.Pinned);
            IntPtr session = IntPtr.Zero;
            try
            {
                using (var settings = options == null ? default(Handle.InUse) : options.Handle.Use())
                    session = Create(parents[0].DangerousGetHandle(), model, isContent, settings.Address);
                feedList = nativePINVOKE.feed_names(session, out IntPtr status);
                OrtolanException.Check(status);
                outputList = nativePINVOKE.output_names(session, out status);
                OrtolanException.Check(status);
                Handle = new Handle(session, ReleaseWithNames).Under(parents).Keeping(options?.Log);
            }
            catch
            {
                if (session != IntPtr.Zero) ReleaseWithNames(session);
                Release.Shares(parents);
                pin.Free();
                throw;
            }
            if (isContent && options != null && options["session.use_ort_model_bytes_directly"] == "1")
                Handle.Pinning(pin);
            else
                pin.Free();
            string[] feeds = Texts(feedList);
            int inputs = CountInputs();
            Inputs = Describe(feeds.Take(inputs), nativePINVOKE.input_type);
            OverridableInitializers = Describe(feeds.Skip(inputs), nativePINVOKE.overridable_type);
            Outputs = Describe(Texts(outputList), nativePINVOKE.output_type);
            InputNames = Inputs.Select(input => input.Name).ToArray();
            outputNames = Outputs.Select(output => output.Name).ToArray();
            feedNumbers = Number(feeds);
            outputNumbers = Number(outputNames);
        }

        static Handle[] Parents(SessionOptions options, OrtolanEnvironment environment)
        {
            Handle[] initializers = options == null ? new Handle[0] : options.ShareInitializers();
            try
            {
                // A share of the environment that was given, or a new one, which the session alone holds.
                if (environment != null) return new[] { environment.Handle.Share() }.Concat(initializers).ToArray();
                using (Handle own = OrtolanEnvironment.Open(new EnvironmentOptions()))
                    return new[] { own.Share() }.Concat(initializers).ToArray();
            }
            catch
            {
                Release.Shares(initializers);
                throw;
            }
        }

        static IntPtr Create(IntPtr environment, byte[] model, bool isContent, IntPtr options)
        {
            fixed (byte* bytes = model)
            {
                IntPtr status;
                IntPtr session = isContent
                    ? nativePINVOKE.create_session_from_bytes(environment, bytes, model.LongLength, options, out status)
                    : nativePINVOKE.create_session(environment, bytes, options, out status);
                OrtolanException.Check(status);
                return session;
            }
        }

        void ReleaseWithNames(IntPtr session)
        {
            nativePINVOKE.release_session(session);
            nativePINVOKE.release_texts(feedList);
            nativePINVOKE.release_texts(outputList);
        }

        static string[] Texts(IntPtr list)
        {
            using (var borrowed = new Handle(list, Release.Nothing)) return Utf8.Read(borrowed);
        }

        static Dictionary<string, int> Number(string[] names)
        {
            var numbers = new Dictionary<string, int>();
            for (int i = 0; i < names.Length; ++i) numbers[names[i]] = i;
            return numbers;
        }

        int CountInputs()
        {
            using (var session = Handle.Use())
            {
                IntPtr names = nativePINVOKE.input_names(session.Address, out IntPtr status);
                OrtolanException.Check(status);
                return Utf8.Take(names).Length;
            }
        }

        delegate IntPtr TypeOf(IntPtr session, long index, out IntPtr status);

        NodeInfo[] Describe(IEnumerable<string> names, TypeOf typeOf)
        {
            using (var session = Handle.Use())
            {
                var nodes = new List<NodeInfo>();
                foreach (string name in names)
                {
                    IntPtr type = typeOf(session.Address, nodes.Count, out IntPtr status);
                    OrtolanException.Check(status);
                    nodes.Add(new NodeInfo(name, TypeInfo.Take(type)));
                }
                return nodes.ToArray();
            }
        }

        internal Handle Handle { get; }

        /// <summary>The inputs of the model that runs must give.</summary>
        public IReadOnlyList<NodeInfo> Inputs { get; }

        /// <summary>Initializers that runs may give other values for.</summary>
        public IReadOnlyList<NodeInfo> OverridableInitializers { get; }

        /// <summary>The outputs of the model.</summary>
        public IReadOnlyList<NodeInfo> Outputs { get; }

        /// <summary>The names of <see cref="Inputs"/>.</summary>
        public IReadOnlyList<string> InputNames { get; }

        /// <summary>The names of <see cref="Outputs"/>.</summary>
        public IReadOnlyList<string> OutputNames => outputNames;

        readonly string[] outputNames;

        /// <summary>What the model says about itself.</summary>
        public ModelMetadata Metadata
        {
            get
            {
                using (var session = Handle.Use())
                {
                    IntPtr metadata = nativePINVOKE.create_metadata(session.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return new ModelMetadata(metadata);
                }
            }
        }

        /// <summary>
        /// Which provider runs each node, for sessions whose options have
        /// <see cref="SessionOptions.RecordNodeAssignments"/>; an exception for others.
        /// </summary>
        public IReadOnlyList<NodeAssignment> NodeAssignments
        {
            get
            {
                using (var session = Handle.Use())
                {
                    IntPtr list = nativePINVOKE.node_assignments(session.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    string[] texts = Utf8.Take(list);
                    return Enumerable.Range(0, texts.Length / 4).Select(i => new NodeAssignment(
                        texts[4 * i], texts[4 * i + 1], texts[4 * i + 2], texts[4 * i + 3])).ToArray();
                }
            }
        }

        /// <summary>Where the session wants an input to be.</summary>
        public MemoryInfo InputMemory(int index)
        {
            using (var session = Handle.Use())
            {
                IntPtr memory = nativePINVOKE.input_memory(session.Address, index, out IntPtr status);
                OrtolanException.Check(status);
                return new MemoryInfo(Handle, memory);
            }
        }

        /// <summary>Where the session makes an output.</summary>
        public MemoryInfo OutputMemory(int index)
        {
            using (var session = Handle.Use())
            {
                IntPtr memory = nativePINVOKE.output_memory(session.Address, index, out IntPtr status);
                OrtolanException.Check(status);
                return new MemoryInfo(Handle, memory);
            }
        }

        /// <summary>Writes the profile and says to which file; empty when profiling is off.</summary>
        public string EndProfiling()
        {
            using (var session = Handle.Use())
            {
                byte* file = nativePINVOKE.end_profiling(session.Address, out IntPtr status);
                OrtolanException.Check(status);
                return Utf8.Take(file);
            }
        }

        /// <summary>When the profile began, in nanoseconds of a clock that never goes back.</summary>
        public ulong ProfilingStart
        {
            get
            {
                using (var session = Handle.Use())
                {
                    ulong start = nativePINVOKE.profiling_start_ns(session.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return start;
                }
            }
        }

        /// <summary>Ends the session once no run, binding or memory description uses it.</summary>
        public void Dispose()
        {
            Handle.Dispose();
        }
    }
}
