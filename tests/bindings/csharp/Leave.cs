// Leaves with everything open: threads that run, objects that nobody closed, log functions in use. The process must
// end by itself, at once, with status 0: Leave.exe FOLDER_OF_MODELS.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Ortolan;

static class Leave
{
    static readonly List<object> open = new List<object>();

    static void Main(string[] arguments)
    {
        var environment = new OrtolanEnvironment(new EnvironmentOptions { LogSeverity = LogSeverity.Verbose, Log = Note });
        var options = new SessionOptions();
        options.SetLog(Note);
        var session = new Session(Path.Combine(arguments[0], "add.onnx"), options, environment);
        Value a = Value.FromArray(new float[] { 1 });
        lock (open) open.AddRange(new object[] { environment, options, session, a, session.Run(a, a), session.CreateBinding(),
                                     OrtolanEnvironment.Default });
        for (int i = 0; i < 3; ++i) new Thread(() => RunForEver(session, a)) { IsBackground = true }.Start();
        Thread.Sleep(100);
        Console.WriteLine("leaving");
    }

    static void Note(LogLine line)
    {
        lock (open) open.Add(line);
    }

    static void RunForEver(Session session, Value a)
    {
        for (;;) session.Run(a, a);
    }
}
