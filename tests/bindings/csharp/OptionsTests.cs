// Session options, providers and their devices, and logs.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using NUnit.Framework;
using Ortolan;
using static TestData;

[TestFixture]
public class OptionsTests
{
    [Test]
    public void AllSettingsAreTaken()
    {
        string rewritten = Path.Combine(Path.GetTempPath(), "ortolan-cs-" + Guid.NewGuid() + ".onnx");
        using (var options = new SessionOptions
        {
            OptimizationLevel = OptimizationLevel.Basic,
            ExecutionMode = ExecutionMode.Parallel,
            IntraOpThreads = 1,
            InterOpThreads = 2,
            ProfilePrefix = null,
            MemoryPattern = false,
            CpuArena = false,
            Deterministic = true,
            LogId = "Prüfung",
            LogSeverity = LogSeverity.Error,
            LogVerbosity = 1,
            OptimizedModelPath = rewritten,
            RecordNodeAssignments = true,
            DisableCpuFallback = false,
            DevicePolicy = DevicePolicy.PreferCpu,
        })
        {
            options["session.intra_op.allow_spinning"] = "0";
            Assert.AreEqual("0", options["session.intra_op.allow_spinning"]);
            Assert.AreEqual("1", options["session.record_ep_graph_assignment_info"]);
            Assert.IsNull(options["absent"]);
            using (SessionOptions clone = options.Clone())
            {
                Assert.AreEqual(OptimizationLevel.Basic, clone.OptimizationLevel);
                Assert.AreEqual(ExecutionMode.Parallel, clone.ExecutionMode);
                Assert.AreEqual(1, clone.IntraOpThreads);
                Assert.AreEqual("Prüfung", clone.LogId);
                Assert.AreEqual(LogSeverity.Error, clone.LogSeverity);
                Assert.AreEqual(rewritten, clone.OptimizedModelPath);
                Assert.IsTrue(clone.RecordNodeAssignments && clone.Deterministic && !clone.CpuArena);
                clone.IntraOpThreads = 3;
                Assert.AreEqual(1, options.IntraOpThreads);
            }
            using (Session session = Open("add", options))
            using (Value a = Floats(1), b = Floats(2))
            using (RunResults results = session.Run(a, b))
                Assert.AreEqual(3f, results[0].ToArray<float>()[0]);
            Assert.Greater(new FileInfo(rewritten).Length, 0);
            File.Delete(rewritten);
        }
    }

    [Test]
    public void WrongSettingsAreErrors()
    {
        using (var options = new SessionOptions())
        {
            Fails<OrtolanException>("optimization level 17", () => options.OptimizationLevel = (OptimizationLevel)17);
            Assert.AreEqual(OptimizationLevel.All, options.OptimizationLevel);
            Fails<ArgumentNullException>("value", () => options.LogSeverity = null);
            Fails<OrtolanException>("logging level 9", () => options.LogSeverity = (LogSeverity)9);
            Fails<ArgumentNullException>("value", () => options["key"] = null);
            Fails<ArgumentNullException>("value", () => options.LogId = null);
            Fails<ArgumentException>("must not contain a NUL", () => options.LogId = "a\0b");
            Fails<OrtolanException>("/no/such/library.so",
                                    () => options.RegisterCustomOperators("/no/such/library.so"));
            Fails<ArgumentNullException>("handler", () => options.SetLog(null));
        }
    }

    [Test]
    public void FreeDimensionsAreFixed()
    {
        using (var options = new SessionOptions())
        {
            options.AddFreeDimensionByName("rows", 4);
            options.AddFreeDimension("DATA_BATCH", 1);
            using (Session session = Open("identity_float", options))
                CollectionAssert.AreEqual(new long[] { 4, -1 }, session.Inputs[0].Type.Shape);
        }
    }

    [Test]
    public void InitializersAreReplacedAndKept()
    {
        Session session;
        using (var options = new SessionOptions())
        {
            using (Value ten = Floats(10)) options.AddInitializer("factor", ten);
            using (SessionOptions clone = options.Clone()) session = Open("add", clone);
        }
        Collect();
        using (session)
        using (Value a = Floats(1), b = Floats(2))
        using (RunResults results = session.Run(a, b)) Assert.AreEqual(30f, results["scaled"].ToArray<float>()[0]);
    }

    [Test]
    public void ClonesAreIndependent()
    {
        using (var options = new SessionOptions())
        {
            options["key"] = "before";
            using (SessionOptions clone = options.Clone())
            {
                clone["key"] = "after";
                Assert.AreEqual("before", options["key"]);
                options.Dispose();
                Assert.AreEqual("after", clone["key"]);
            }
        }
    }

    [Test]
    public void AbsentProvidersAreErrorsUnlessAllowed()
    {
        using (var options = new SessionOptions())
        {
            Fails(ErrorCode.InvalidArgument, "no execution provider is called 'NoSuchExecutionProvider'",
                  () => options.AppendProvider("NoSuchExecutionProvider"));
            Assert.IsFalse(options.TryAppendProvider("NoSuchExecutionProvider"));
            Assert.IsFalse(options.TryAppendProvider("CUDAExecutionProvider"));
            Assert.IsTrue(options.TryAppendProvider("CPUExecutionProvider"));
            using (Session session = Open("add", options)) Assert.AreEqual(2, session.Outputs.Count);
        }
    }

    [Test]
    public void PluginDevicesRunNodes()
    {
        using (var environment = new OrtolanEnvironment())
        {
            environment.RegisterProviderLibrary("example", Plugin);
            Device device = environment.Devices.First(d => d.ProviderName == "ExampleKernelExecutionProvider");
            Assert.AreSame(device, environment.Devices.First(d => d.ProviderName == device.ProviderName));
            Assert.AreNotEqual("", device.ProviderVendor);
            Assert.IsNotNull(device.HardwareVendor);
            Assert.IsTrue(Enum.IsDefined(typeof(HardwareType), device.HardwareType));
            using (var options = new SessionOptions { RecordNodeAssignments = true, DisableCpuFallback = true })
            {
                options.AppendProvider(new[] { device }, new Dictionary<string, string>());
                using (Session session = Open("add", options, environment))
                using (Value a = Floats(1), b = Floats(2))
                using (RunResults results = session.Run(a, b))
                {
                    Assert.AreEqual(6f, results["scaled"].ToArray<float>()[0]);
                    Assert.AreEqual(2, session.NodeAssignments.Count);
                    Assert.IsTrue(session.NodeAssignments.All(node => node.Provider == device.ProviderName));
                }
                CopiesToTheDevice(environment, device);
                environment.UnregisterProviderLibrary("example");
                Assert.IsFalse(environment.Devices.Any(d => d.ProviderName == device.ProviderName));
                Assert.AreEqual("ExampleKernelExecutionProvider", device.ProviderName);
                Fails<ObjectDisposedException>("ExampleKernelExecutionProvider was unregistered",
                                               () => options.AppendProvider(new[] { device }));
                Fails<ObjectDisposedException>("ExampleKernelExecutionProvider was unregistered",
                                               () => device.Memory());
                Fails<ArgumentException>("at least one device", () => options.AppendProvider(new Device[0]));
            }
            Fails<OrtolanException>("no plugin library is registered as 'example'",
                                    () => environment.UnregisterProviderLibrary("example"));
            Fails<OrtolanException>("/no/such/library.so",
                                    () => environment.RegisterProviderLibrary("none", "/no/such/library.so"));
        }
    }

    static void CopiesToTheDevice(OrtolanEnvironment environment, Device device)
    {
        using (MemoryInfo memory = device.Memory())
        {
            Assert.IsNotNull(memory, "the example has memory of its own");
            using (Value there = Value.OnDevice(environment, memory, ElementType.Float, 2))
            using (Value here = Floats(3, 4), back = Floats(0, 0))
            {
                Assert.AreEqual(memory.Name, there.Memory.Name);
                there.CopyFrom(here, environment);
                back.CopyFrom(there, environment);
                CollectionAssert.AreEqual(new float[] { 3, 4 }, back.ToArray<float>());
                Fails<OrtolanException>("copy it to the CPU first", () => there.ToArray<float>());
            }
        }
    }

    [Test]
    public void TheEnvironmentMayGiveProviders()
    {
        using (var environment = new OrtolanEnvironment())
        {
            environment.RegisterProviderLibrary("example", Plugin);
            environment.AppendProvider("ExampleKernelExecutionProvider");
            using (var options = new SessionOptions { RecordNodeAssignments = true })
            {
                using (Session session = Open("add", options, environment))
                    Assert.AreEqual("ExampleKernelExecutionProvider", session.NodeAssignments[0].Provider);
                environment.ClearProviders();
                using (Session session = Open("add", options, environment))
                    Assert.AreEqual("CPUExecutionProvider", session.NodeAssignments[0].Provider);
            }
            environment.UnregisterProviderLibrary("example");
            using (var options = new SessionOptions()) Assert.IsFalse(options.TryAppendProvider("ExampleKernelExecutionProvider"));
        }
    }

    [Test]
    public void SessionsLogToTheirFunction()
    {
        var lines = new ConcurrentQueue<LogLine>();
        using (var options = new SessionOptions { LogSeverity = LogSeverity.Verbose, LogId = "größe" })
        {
            options.SetLog(line => lines.Enqueue(line));
            using (Session session = Open("add", options)) Assert.IsFalse(lines.IsEmpty);
        }
        Assert.IsTrue(lines.Any(line => line.LogId == "größe" && line.Message != "" && line.Location != ""));
    }

    [Test]
    public void WhatLogFunctionsThrowIsDropped()
    {
        using (var options = new SessionOptions { LogSeverity = LogSeverity.Verbose })
        {
            options.SetLog(line => { throw new InvalidOperationException(); });
            using (Session session = Open("add", options)) Assert.AreEqual(2, session.Outputs.Count);
        }
    }

    [Test]
    public void TheEnvironmentLogsToItsFunction()
    {
        var lines = new ConcurrentQueue<LogLine>();
        var settings = new EnvironmentOptions
        {
            LogSeverity = LogSeverity.Verbose, LogId = "Umgebung", Log = lines.Enqueue,
            SharedThreadPools = true, IntraOpThreads = 1, InterOpThreads = 1,
        };
        Collect();  // other tests leave objects to the collector; one of them may still have the environment
        using (var environment = new OrtolanEnvironment(settings))
        using (var options = new SessionOptions())
        {
            options.UseEnvironmentThreads();
            using (Session session = Open("add", options, environment))
            using (Value a = Floats(1), b = Floats(2)) session.Run(a, b).Dispose();
            Assert.IsTrue(lines.Any(line => line.LogId == "Umgebung" && line.ToString().Contains(line.Message)));
            environment.SetLogSeverity(LogSeverity.Fatal);
            int before = lines.Count;
            using (Session session = Open("add", null, environment)) Assert.AreEqual(before, lines.Count);
            Fails<InvalidOperationException>("the process has an environment already",
                                             () => new OrtolanEnvironment(settings).Dispose());
        }
    }
}
