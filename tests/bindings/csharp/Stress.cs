// Threads, sessions and the garbage collector against each other: Stress.exe, for ORTOLAN_STRESS_SECONDS (6 unless set).
// Every result is checked; objects are closed in all orders, by other threads during runs, or never. Fails when a result
// is wrong, when anything but use after close is refused, or when the process grows after it has warmed up.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Ortolan;

static class Stress
{
    const int Workers = 4, Shared = 3, Checkpoints = 8;
    const long Growth = 8 << 20;  // bytes that the allocators may hold on to

    static readonly Session[] sessions = new Session[Shared];
    static readonly List<Exception> failures = new List<Exception>();
    static volatile bool over;
    static long actions, refusals;

    static string Model(string name)
    {
        return Path.Combine(Environment.GetEnvironmentVariable("ORTOLAN_TEST_MODELS"), name + ".onnx");
    }

    static void Require(bool condition, string what)
    {
        if (!condition) throw new InvalidOperationException(what);
    }

    static Session Open(string name, SessionOptions options = null)
    {
        return new Session(Model(name), options);
    }

    /// <summary>A session of one thread, its objects closed in any order or left to the collector.</summary>
    static void CreateRunAndClose(Random random)
    {
        var options = new SessionOptions { IntraOpThreads = 1, LogSeverity = LogSeverity.Verbose };
        int lines = 0;
        options.SetLog(line => Interlocked.Increment(ref lines));
        var factor = Value.FromArray(new float[] { 3 });
        options.AddInitializer("factor", factor);
        Session session = Open("add", options);
        Value a = Value.FromArray(new float[] { 1, 2 }), b = Value.CopyArray(new float[] { 5, 6 });
        RunResults results = session.Run(a, b);
        IoBinding binding = session.CreateBinding();
        binding.BindInput("a", a);
        binding.BindInput("b", b);
        binding.BindOutputToMemory("scaled", session.OutputMemory(1));
        binding.Run();
        RunResults bound = binding.GetOutputs();
        Require(lines > 0, "the log function got no line");
        var objects = new List<IDisposable> { options, factor, session, a, b, binding };
        while (objects.Count > 0)
        {
            int next = random.Next(objects.Count);
            if (random.Next(4) != 0) objects[next].Dispose();
            objects.RemoveAt(next);
        }
        Require(results["scaled"].ToArray<float>().SequenceEqual(new float[] { 18, 24 }), "wrong scaled");
        Require(bound["scaled"].ToArray<float>()[1] == 24, "wrong bound output");
        if (random.Next(2) == 0) results.Dispose();
        if (random.Next(2) == 0) bound.Dispose();
    }

    /// <summary>Runs on sessions that other threads close meanwhile.</summary>
    static void RunShared(Random random)
    {
        int place = random.Next(Shared);
        Session session = sessions[place];
        for (int i = 0; i < 50; ++i)
        {
            try
            {
                using (Value a = Value.FromArray(new float[] { i, 1 }), b = Value.FromArray(new float[] { 1, i }))
                using (RunResults results = session.Run(a, b))
                    Require(results[0].ToArray<float>()[1] == i + 1, "wrong sum");
            }
            catch (ObjectDisposedException)
            {
                Interlocked.Increment(ref refusals);
            }
        }
        if (random.Next(3) != 0) return;
        using (var options = new SessionOptions { IntraOpThreads = 1 })
            Interlocked.Exchange(ref sessions[place], Open("add", options)).Dispose();
    }

    /// <summary>Closes everything under a run that does not end by itself.</summary>
    static void CloseDuringRun(Random random)
    {
        Session session = Open("endless");
        var options = new RunOptions();
        Value x = Value.FromArray(new float[] { 0 });
        Exception thrown = null;
        var runner = new Thread(() =>
        {
            try
            {
                session.Run(new[] { x }, options);
            }
            catch (Exception error)
            {
                thrown = error;
            }
        });
        runner.Start();
        Thread.Sleep(random.Next(3));
        if (random.Next(2) == 0) x.Dispose();
        if (random.Next(2) == 0) session.Dispose();
        options.Terminate = true;
        options.Dispose();
        Require(runner.Join(20000), "a run did not end");
        Require(thrown is OrtolanException || thrown is ObjectDisposedException, "unexpected: " + thrown);
    }

    /// <summary>Strings, sequences and maps, mostly left to the collector.</summary>
    static void Contain(Random random)
    {
        string[] words = Enumerable.Range(0, random.Next(1, 20)).Select(i => "wörd\0" + i).ToArray();
        Value strings = Value.FromStrings(words);
        Require(strings.ToStrings().SequenceEqual(words), "wrong strings");
        Value sequence = Value.Sequence(Value.FromArray(new float[] { 1 }), Value.FromArray(new float[] { 2, 3 }));
        Value second = sequence[1];
        if (random.Next(2) == 0) sequence.Dispose();
        Require(second.ToArray<float>()[1] == 3, "wrong element");
        var pairs = new Dictionary<string, float> { { "dog", 1 }, { "cat", random.Next() } };
        using (Value map = Value.FromDictionary(pairs))
            Require(map.ToDictionary<string, float>()["cat"] == pairs["cat"], "wrong map");
    }

    static void Work(int seed)
    {
        var random = new Random(seed);
        var all = new Action<Random>[] { CreateRunAndClose, RunShared, RunShared, Contain, Contain, CloseDuringRun };
        try
        {
            while (!over)
            {
                all[random.Next(all.Length)](random);
                Interlocked.Increment(ref actions);
            }
        }
        catch (Exception error)
        {
            lock (failures) failures.Add(error);
            over = true;
        }
    }

    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    static long ResidentBytes()
    {
        return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]) * Environment.SystemPageSize;
    }

    static int Main()
    {
        string given = Environment.GetEnvironmentVariable("ORTOLAN_STRESS_SECONDS");
        double seconds = string.IsNullOrEmpty(given) ? 6 : double.Parse(given);
        for (int i = 0; i < Shared; ++i) sessions[i] = Open("add");
        int seed = Environment.TickCount;
        Thread[] threads = Enumerable.Range(0, Workers).Select(i => new Thread(() => Work(seed + i))).ToArray();
        foreach (Thread thread in threads) thread.Start();
        var sizes = new List<long>();
        for (Stopwatch clock = Stopwatch.StartNew(); !over && clock.Elapsed.TotalSeconds < seconds;)
        {
            Thread.Sleep(20);
            Collect();
            if (clock.Elapsed.TotalSeconds > seconds * (sizes.Count + 1) / Checkpoints) sizes.Add(ResidentBytes());
        }
        over = true;
        foreach (Thread thread in threads) thread.Join();
        foreach (Exception failure in failures) Console.WriteLine(failure);
        Console.WriteLine($"seed {seed}: {actions} actions, {refusals} runs refused after close; MiB resident: " +
                          string.Join(" ", sizes.Select(size => $"{size / 1048576.0:F1}")));
        // The smallest size of the last quarter against the largest of the second: what leaks, grows past it.
        long before = sizes.Skip(sizes.Count / 4).Take(sizes.Count / 4).Max(), after = sizes.Skip(sizes.Count * 3 / 4).Min();
        bool grown = after > before + Growth;
        if (grown) Console.WriteLine("the process has grown");
        return failures.Count > 0 || grown ? 1 : 0;
    }
}
