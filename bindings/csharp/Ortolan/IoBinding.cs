// Inputs and outputs that stay bound to a session.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Ortolan
{
    /// <summary>
    /// Inputs and outputs bound to a session, for runs that repeat with the same values or with memory of devices. It
    /// keeps the session and what is bound. Any thread may use it; its calls and runs wait for each other.
    /// </summary>
    public sealed unsafe class IoBinding : IDisposable
    {
        readonly object gate = new object();
        readonly Handle session;  // the binding's share
        readonly Dictionary<string, Handle> inputs = new Dictionary<string, Handle>();
        readonly Dictionary<string, Handle> outputs = new Dictionary<string, Handle>();
        readonly Handle handle;

        internal IoBinding(Session session)
        {
            this.session = session.Handle.Share();
            try
            {
                IntPtr made = nativePINVOKE.create_binding(this.session.DangerousGetHandle(), out IntPtr status);
                OrtolanException.Check(status);
                handle = new Handle(made, ReleaseWithValues).Under(this.session);
            }
            catch
            {
                this.session.DangerousRelease();
                throw;
            }
        }

        void ReleaseWithValues(IntPtr binding)
        {
            nativePINVOKE.release_binding(binding);
            foreach (Handle bound in inputs.Values.Concat(outputs.Values)) bound.Drop();
        }

        delegate void Binder(IntPtr binding, byte* name, IntPtr value, out IntPtr status);

        /// <summary>The next runs read this input from the value.</summary>
        public void BindInput(string name, Value value)
        {
            Bind(nativePINVOKE.bind_input, inputs, name, value);
        }

        /// <summary>The next runs write this output into the value.</summary>
        public void BindOutput(string name, Value value)
        {
            Bind(nativePINVOKE.bind_output, outputs, name, value);
        }

        void Bind(Binder binder, Dictionary<string, Handle> bound, string name, Value value)
        {
            Handle held = Value.HandleOf(value, nameof(value)).Hold();
            try
            {
                lock (gate)
                {
                    fixed (byte* text = Utf8.Terminated(name, nameof(name)))
                    using (var binding = handle.Use())
                    {
                        binder(binding.Address, text, held.DangerousGetHandle(), out IntPtr status);
                        OrtolanException.Check(status);
                        Replace(bound, name, held);
                    }
                }
            }
            catch
            {
                held.Drop();
                throw;
            }
        }

        /// <summary>Notes what is bound to a name, null for nothing of ours, and drops what was.</summary>
        static void Replace(Dictionary<string, Handle> bound, string name, Handle now)
        {
            bound.TryGetValue(name, out Handle before);
            bound.Remove(name);
            if (now != null) bound[name] = now;
            if (before != null) before.Drop();
        }

        /// <summary>The next runs make this output new, in that memory.</summary>
        public void BindOutputToMemory(string name, MemoryInfo memory)
        {
            if (memory == null) throw new ArgumentNullException(nameof(memory));
            byte[] terminated = Utf8.Terminated(name, nameof(name));
            lock (gate)
            {
                memory.Use(info =>
                {
                    fixed (byte* text = terminated)
                    using (var binding = handle.Use())
                    {
                        nativePINVOKE.bind_output_to_memory(binding.Address, text, info, out IntPtr status);
                        OrtolanException.Check(status);
                        Replace(outputs, name, null);
                        return true;
                    }
                });
            }
        }

        /// <summary>Unbinds all inputs.</summary>
        public void ClearInputs()
        {
            Clear(nativePINVOKE.clear_bound_inputs, inputs);
        }

        /// <summary>Unbinds all outputs.</summary>
        public void ClearOutputs()
        {
            Clear(nativePINVOKE.clear_bound_outputs, outputs);
        }

        void Clear(Action<IntPtr> clear, Dictionary<string, Handle> bound)
        {
            lock (gate)
            {
                using (var binding = handle.Use())
                {
                    clear(binding.Address);
                    foreach (Handle before in bound.Values) before.Drop();
                    bound.Clear();
                }
            }
        }

        delegate void Step(IntPtr binding, out IntPtr status);

        /// <summary>Waits until the bound inputs are where the session wants them.</summary>
        public void SynchronizeInputs()
        {
            Call(nativePINVOKE.synchronize_inputs);
        }

        /// <summary>Waits until the bound outputs are complete.</summary>
        public void SynchronizeOutputs()
        {
            Call(nativePINVOKE.synchronize_outputs);
        }

        void Call(Step step)
        {
            lock (gate)
            {
                using (var binding = handle.Use())
                {
                    step(binding.Address, out IntPtr status);
                    OrtolanException.Check(status);
                }
            }
        }

        /// <summary>The names of the bound outputs, in the order in which they were bound.</summary>
        public IReadOnlyList<string> OutputNames
        {
            get
            {
                lock (gate)
                {
                    using (var binding = handle.Use()) return Names(binding.Address);
                }
            }
        }

        static string[] Names(IntPtr binding)
        {
            IntPtr names = nativePINVOKE.bound_output_names(binding, out IntPtr status);
            OrtolanException.Check(status);
            return Utf8.Take(names);
        }

        /// <summary>The outputs of the last run, in the order of <see cref="OutputNames"/>; for the caller to dispose.</summary>
        public RunResults GetOutputs()
        {
            lock (gate)
            {
                using (var binding = handle.Use())
                {
                    string[] names = Names(binding.Address);
                    // Each output keeps what its memory belongs to: the value that was bound, or the binding's session.
                    Handle[] owners = Release.Share(names.Select(OwnerOf).ToArray());
                    var addresses = new IntPtr[names.Length];
                    IntPtr status;
                    fixed (IntPtr* first = addresses)
                        nativePINVOKE.bound_outputs(binding.Address, first, addresses.Length, out status);
                    if (status != IntPtr.Zero) Release.Shares(owners);
                    OrtolanException.Check(status);
                    return new RunResults(names, addresses.Zip(owners, Own).ToArray());
                }
            }
        }

        Handle OwnerOf(string output)
        {
            return outputs.TryGetValue(output, out Handle bound) ? bound : handle;
        }

        static Value Own(IntPtr value, Handle owner)
        {
            return new Value(new Handle(value, Release.Value).Under(owner));
        }

        /// <summary>Runs the session on what is bound.</summary>
        public void Run(RunOptions options = null)
        {
            lock (gate)
            {
                using (var binding = handle.Use())
                using (var settings = options == null ? default(Handle.InUse) : options.Handle.Use())
                {
                    nativePINVOKE.run_binding(session.DangerousGetHandle(), settings.Address, binding.Address, out IntPtr status);
                    OrtolanException.Check(status);
                }
            }
        }

        /// <summary>Frees the binding; what was bound stays the caller's.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
