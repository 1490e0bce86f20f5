// Running sessions.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Ortolan
{
    public sealed unsafe partial class Session
    {
        const int Few = 4;  // values of a run whose addresses need no array

        /// <summary>Runs the model on its inputs in order and gives all outputs, in order.</summary>
        public RunResults Run(params Value[] inputs)
        {
            return Run(inputs, null);
        }

        /// <summary>Likewise, with settings; null for the usual ones.</summary>
        public RunResults Run(Value[] inputs, RunOptions options)
        {
            if (inputs == null) throw new ArgumentNullException(nameof(inputs));
            var outputs = new Value[outputNames.Length];
            Execute(null, inputs, null, outputs, options);
            return new RunResults(outputNames, outputs);
        }

        /// <summary>Runs the model on inputs by name and gives the outputs of these names; null for all.</summary>
        public RunResults Run(IEnumerable<KeyValuePair<string, Value>> inputs, IEnumerable<string> outputs = null,
                              RunOptions options = null)
        {
            if (inputs == null) throw new ArgumentNullException(nameof(inputs));
            KeyValuePair<string, Value>[] feeds = inputs.ToArray();
            string[] names = outputs == null ? outputNames : outputs.ToArray();
            var results = new Value[names.Length];
            Run(feeds.Select(feed => feed.Key).ToArray(), feeds.Select(feed => feed.Value).ToArray(), names, results,
                options);
            return new RunResults(names, results);
        }

        /// <summary>
        /// Runs the model on inputs by name. Outputs that are given are written in place; those that are null receive new
        /// values. When the run fails no output is replaced, and what was to be written in place may be half done.
        /// </summary>
        public void Run(IReadOnlyList<string> inputNames, Value[] inputs, IReadOnlyList<string> outputNames,
                        Value[] outputs, RunOptions options = null)
        {
            if (inputs == null) throw new ArgumentNullException(nameof(inputs));
            if (outputs == null) throw new ArgumentNullException(nameof(outputs));
            Execute(Choice(inputNames, inputs.Length, feedNumbers, "input"), inputs,
                    Choice(outputNames, outputs.Length, outputNumbers, "output"), outputs, options);
        }

        static int[] Choice(IReadOnlyList<string> names, int count, Dictionary<string, int> numbers, string what)
        {
            if (names == null) throw new ArgumentNullException(what + "Names");
            if (names.Count != count)
                throw new ArgumentException($"there are {names.Count} {what} names but {count} {what} values");
            var choice = new int[count];
            for (int i = 0; i < count; ++i)
            {
                if (names[i] == null || !numbers.TryGetValue(names[i], out choice[i]))
                    throw new ArgumentException(
                        $"the model has no {what} '{names[i]}'; it has {string.Join(", ", numbers.Keys)}");
            }
            return choice;
        }

        void Execute(int[] inputChoice, Value[] inputs, int[] outputChoice, Value[] outputs, RunOptions options)
        {
            int count = inputs.Length + outputs.Length;
            var held = new Handle[count];
            IntPtr* few = stackalloc IntPtr[Few];
            fixed (IntPtr* many = count > Few ? new IntPtr[count] : null)
            fixed (int* ins = inputChoice, outs = outputChoice)
            {
                IntPtr* addresses = count > Few ? many : few;
                try
                {
                    Hold(inputs, held, 0, addresses);
                    Hold(outputs, held, inputs.Length, addresses);
                    using (var session = Handle.Use())
                    using (var settings = options == null ? default(Handle.InUse) : options.Handle.Use())
                    {
                        nativePINVOKE.run_session(
                            session.Address, settings.Address, feedList, ins, inputChoice == null ? 0 : inputs.Length,
                            addresses, inputs.Length, outputList, outs, outputChoice == null ? 0 : outputs.Length,
                            addresses + inputs.Length, outputs.Length, out IntPtr status);
                        OrtolanException.Check(status);
                    }
                    for (int i = 0; i < outputs.Length; ++i)
                    {
                        if (held[inputs.Length + i] == null)
                            outputs[i] = new Value(new Handle(addresses[inputs.Length + i], Release.Value));
                    }
                }
                finally
                {
                    Release.Shares(held);
                }
            }
        }

        /// <summary>Shares the values and writes their addresses, from that place on; NULL for null.</summary>
        static void Hold(Value[] values, Handle[] held, int start, IntPtr* addresses)
        {
            for (int i = 0; i < values.Length; ++i)
            {
                Value value = values[i];
                if (value != null) held[start + i] = value.Handle.Share();
                addresses[start + i] = value == null ? IntPtr.Zero : value.Handle.DangerousGetHandle();
            }
        }

        /// <summary>Inputs and outputs that stay bound for many runs.</summary>
        public IoBinding CreateBinding()
        {
            return new IoBinding(this);
        }
    }

    /// <summary>The outputs of a run, in order and by name. Dispose frees all of them.</summary>
    public sealed class RunResults : IReadOnlyList<Value>, IDisposable
    {
        readonly string[] names;
        readonly Value[] values;

        internal RunResults(string[] names, Value[] values)
        {
            this.names = names;
            this.values = values;
        }

        /// <summary>How many there are.</summary>
        public int Count => values.Length;

        /// <summary>One by its place.</summary>
        public Value this[int index] => values[index];

        /// <summary>One by its name.</summary>
        public Value this[string name]
        {
            get
            {
                int index = Array.IndexOf(names, name);
                if (index < 0) throw new KeyNotFoundException($"the run gave no output '{name}'");
                return values[index];
            }
        }

        /// <summary>One after the other.</summary>
        public IEnumerator<Value> GetEnumerator() => ((IEnumerable<Value>)values).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => values.GetEnumerator();

        /// <summary>Frees the outputs.</summary>
        public void Dispose()
        {
            foreach (Value value in values) value.Dispose();
        }
    }
}
