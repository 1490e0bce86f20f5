// Log lines from the library to a delegate of the program.
using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;

namespace Ortolan
{
    /// <summary>A line of the log.</summary>
    public sealed class LogLine
    {
        internal LogLine(LogSeverity severity, string category, string logId, string location, string message)
        {
            Severity = severity;
            Category = category;
            LogId = logId;
            Location = location;
            Message = message;
        }

        /// <summary>How bad it is.</summary>
        public LogSeverity Severity { get; }
        /// <summary>The part of the library that says it.</summary>
        public string Category { get; }
        /// <summary>The log id of the environment, session or run.</summary>
        public string LogId { get; }
        /// <summary>The place in the library's source.</summary>
        public string Location { get; }
        /// <summary>The text.</summary>
        public string Message { get; }

        /// <summary>The line as one text.</summary>
        public override string ToString() => $"[{Severity}:{Category}:{LogId}, {Location}] {Message}";
    }

    /// <summary>
    /// What C calls with the log lines of one environment or one session: a number for C, under which the delegate is
    /// found as long as this object lives. C may come late, on any thread: then the line is dropped.
    /// </summary>
    sealed unsafe class LogSink
    {
        delegate void Function(IntPtr number, int severity, byte* category, byte* logId, byte* location, byte* message);

        // Static, so that the code behind the pointer is never collected.
        static readonly Function receive = Receive;
        static readonly ConcurrentDictionary<long, WeakReference> sinks = new ConcurrentDictionary<long, WeakReference>();
        static long last;

        readonly Action<LogLine> handler;

        public LogSink(Action<LogLine> handler)
        {
            this.handler = handler;
            Number = Interlocked.Increment(ref last);
            // Lines of an object that is being finalised still arrive: the reference outlives this object's finaliser.
            sinks[Number] = new WeakReference(this, true);
        }

        ~LogSink()
        {
            sinks.TryRemove(Number, out _);
        }

        /// <summary>What C hands back with every line.</summary>
        public long Number { get; }

        public static readonly IntPtr Address = Marshal.GetFunctionPointerForDelegate(receive);

        static void Receive(IntPtr number, int severity, byte* category, byte* logId, byte* location, byte* message)
        {
            try
            {
                if (!sinks.TryGetValue((long)number, out WeakReference found)) return;
                if (!(found.Target is LogSink sink)) return;
                sink.handler(new LogLine((LogSeverity)severity, Utf8.Read(category), Utf8.Read(logId),
                                         Utf8.Read(location), Utf8.Read(message)));
            }
            catch (Exception)
            {
                // An exception must not pass through C. The handler is documented to throw none.
            }
        }
    }
}
