// Who keeps whom alive, use after close, and closing while others work.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using NUnit.Framework;
using Ortolan;
using static TestData;

[TestFixture]
public class LifetimeTests
{
    static void Refuses(TestDelegate call)
    {
        Fails<ObjectDisposedException>("the object has been closed", call);
    }

    [Test]
    public void ClosedObjectsRefuseUse()
    {
        var environment = new OrtolanEnvironment();
        var options = new SessionOptions();
        var runOptions = new RunOptions();
        Session session = Open("add", options, environment);
        Value a = Floats(1), b = Floats(2);
        IoBinding binding = session.CreateBinding();
        var memory = new MemoryInfo("Cpu");
        TensorAccess access = a.Access();
        foreach (IDisposable closed in new IDisposable[] { access, binding, session, runOptions, options, a, memory,
                                                           environment })
        {
            closed.Dispose();
            closed.Dispose();
        }
        Refuses(() => environment.SetLogSeverity(LogSeverity.Error));
        Refuses(() => environment.RegisterProviderLibrary("a", "b"));
        Refuses(() => environment.Devices.ToString());
        Refuses(() => Open("add", null, environment));
        Refuses(() => options.IntraOpThreads = 1);
        Refuses(() => options["key"] = "value");
        Refuses(() => options.Clone());
        Refuses(() => options.AppendProvider("CPUExecutionProvider"));
        Refuses(() => Open("add", options));
        Refuses(() => runOptions.Terminate = true);
        Refuses(() => runOptions.Tag.ToString());
        Refuses(() => session.Run(b, b));
        Refuses(() => session.Metadata.ToString());
        Refuses(() => session.EndProfiling());
        Refuses(() => session.CreateBinding());
        Refuses(() => session.InputMemory(0));
        Refuses(() => binding.BindInput("b", b));
        Refuses(() => binding.Run());
        Refuses(() => binding.ClearInputs());
        Refuses(() => binding.GetOutputs());
        Refuses(() => memory.Name.ToString());
        Refuses(() => a.ToArray<float>());
        Refuses(() => a.Kind.ToString());
        Refuses(() => a.Type.ToString());
        Refuses(() => Value.Sequence(b, a));
        Refuses(() => access.Address.ToString());
        Assert.AreEqual("a", session.Inputs[0].Name);
        using (Session open = Open("add"))
        {
            Refuses(() => open.Run(a, b));
            Refuses(() => open.Run(new[] { b, b }, runOptions));
            Refuses(() => open.Run(new[] { "a", "b" }, new[] { b, b }, new[] { "sum" }, new[] { a }));
            // What the failed calls held is free again: closing works at once, and the rest runs.
            using (RunResults results = open.Run(b, b)) Assert.AreEqual(4f, results[0].ToArray<float>()[0]);
        }
        b.Dispose();
    }

    [Test]
    public void ChildrenKeepTheirParents()
    {
        var environment = new OrtolanEnvironment();
        var options = new SessionOptions();
        Session session = Open("add", options, environment);
        environment.Dispose();
        options.Dispose();
        Value a = Floats(1), b = Floats(2);
        IoBinding binding = session.CreateBinding();
        binding.BindInput("a", a);
        binding.BindInput("b", b);
        MemoryInfo memory = session.OutputMemory(0);
        binding.BindOutputToMemory("sum", memory);
        RunResults results = session.Run(a, b);
        a.Dispose();
        b.Dispose();
        session.Dispose();
        Collect();
        binding.Run();
        Assert.AreEqual("Cpu", memory.Name);
        RunResults bound = binding.GetOutputs();
        binding.Dispose();
        Collect();
        Assert.AreEqual(3f, bound["sum"].ToArray<float>()[0]);
        Assert.AreEqual(3f, results["sum"].ToArray<float>()[0]);
        bound.Dispose();
        results.Dispose();
        memory.Dispose();
    }

    [Test]
    public void BindingsRunAgainAndAgain()
    {
        var place = new float[2];
        using (Session session = Open("add"))
        using (IoBinding binding = session.CreateBinding())
        using (Value a = Floats(1, 2), b = Floats(3, 4))
        {
            binding.BindInput("a", a);
            binding.BindInput("b", b);
            using (Value sum = Value.FromArray(place)) binding.BindOutput("sum", sum);
            binding.BindOutputToMemory("scaled", session.OutputMemory(1));
            Collect();
            binding.SynchronizeInputs();
            binding.Run();
            binding.SynchronizeOutputs();
            CollectionAssert.AreEqual(new float[] { 4, 6 }, place);
            CollectionAssert.AreEqual(new[] { "sum", "scaled" }, binding.OutputNames);
            a.Write(new float[] { 10, 20 });
            using (var options = new RunOptions()) binding.Run(options);
            RunResults outputs = binding.GetOutputs();
            binding.ClearOutputs();
            Collect();
            CollectionAssert.AreEqual(new float[] { 13, 24 }, outputs["sum"].ToArray<float>());
            CollectionAssert.AreEqual(new float[] { 26, 48 }, outputs["scaled"].ToArray<float>());
            outputs.Dispose();
            Assert.AreEqual(0, binding.OutputNames.Count);
            binding.ClearInputs();
            binding.BindOutput("sum", b);
            Fails<OrtolanException>("input 'a' is missing", () => binding.Run());
            Fails(ErrorCode.InvalidArgument, "'c'", () => binding.BindInput("c", a));
            Fails<ArgumentNullException>("name", () => binding.BindInput(null, a));
        }
    }

    [Test]
    public void ClosingWaitsForRunsOfOtherThreads()
    {
        Session session = Open("endless");
        var options = new RunOptions();
        using (var started = new ManualResetEventSlim())
        {
            Func<Exception> end = RunEndlessly(session, options, started);
            started.Wait();
            Thread.Sleep(50);
            session.Dispose();
            Refuses(() => session.Run());
            options.Terminate = true;
            options.Dispose();
            Exception thrown = end();
            Assert.IsInstanceOf<OrtolanException>(thrown);
            StringAssert.DoesNotContain("disposed", thrown.Message);
        }
    }

    [Test]
    public void TheCollectorClosesWhatNobodyClosed()
    {
        var references = new List<WeakReference>();
        var thread = new Thread(() =>
        {
            for (int i = 0; i < 20; ++i)
            {
                Session session = Open("add", new SessionOptions(), new OrtolanEnvironment());
                IoBinding binding = session.CreateBinding();
                binding.BindInput("a", Floats(1));
                references.Add(new WeakReference(session));
                references.Add(new WeakReference(session.Run(Floats(1), Floats(2))[0]));
                references.Add(new WeakReference(binding));
            }
        });
        thread.Start();
        thread.Join();
        for (int i = 0; i < 10 && references.Any(reference => reference.IsAlive); ++i) Collect();
        // The collector scans stacks conservatively: a few may look alive.
        Assert.LessOrEqual(references.Count(reference => reference.IsAlive), 6);
    }
}
