// Sessions: models from files and bytes, what they say about themselves, runs, errors.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using NUnit.Framework;
using Ortolan;
using static TestData;

[TestFixture]
public class SessionTests
{
    [Test]
    public void LibraryNamesItself()
    {
        StringAssert.StartsWith("1.31.", OrtolanLibrary.Version);
        StringAssert.Contains("Ortolan", OrtolanLibrary.BuildInfo);
        CollectionAssert.Contains(OrtolanLibrary.AvailableProviders, "CPUExecutionProvider");
    }

    [Test]
    public void RunsInOrderAndByName()
    {
        using (Session session = Open("add"))
        using (Value a = Floats(1, 2), b = Floats(10, 20))
        {
            using (RunResults results = session.Run(a, b))
            {
                Assert.AreEqual(2, results.Count);
                CollectionAssert.AreEqual(new float[] { 11, 22 }, results["sum"].ToArray<float>());
                CollectionAssert.AreEqual(new float[] { 22, 44 }, results[1].ToArray<float>());
                Fails<KeyNotFoundException>("the run gave no output 'factor'", () => results["factor"].Dispose());
            }
            var feeds = new Dictionary<string, Value> { { "b", b }, { "a", a } };
            using (RunResults results = session.Run(feeds, new[] { "scaled" }))
            {
                Assert.AreEqual(1, results.Count);
                CollectionAssert.AreEqual(new float[] { 22, 44 }, results["scaled"].ToArray<float>());
            }
        }
    }

    [Test]
    public void RunsMayOverrideInitializers()
    {
        using (Session session = Open("add"))
        using (Value a = Floats(1), b = Floats(2), factor = Floats(5))
        {
            Assert.AreEqual("factor", session.OverridableInitializers.Single().Name);
            var feeds = new Dictionary<string, Value> { { "a", a }, { "b", b }, { "factor", factor } };
            using (RunResults results = session.Run(feeds)) Assert.AreEqual(15f, results["scaled"].ToArray<float>()[0]);
        }
    }

    [Test]
    public void RunsWriteInPlace()
    {
        using (Session session = Open("add"))
        using (Value a = Floats(1), b = Floats(2))
        {
            var array = new float[1];
            using (Value place = Value.FromArray(array))
            {
                var outputs = new[] { null, place };
                session.Run(new[] { "a", "b" }, new[] { a, b }, new[] { "sum", "scaled" }, outputs);
                Assert.AreSame(place, outputs[1]);
                Assert.AreEqual(6f, array[0]);
                using (outputs[0]) Assert.AreEqual(3f, outputs[0].ToArray<float>()[0]);
            }
        }
    }

    [Test]
    public void RefusesWrongCalls()
    {
        using (Session session = Open("add"))
        using (Value a = Floats(1), b = Floats(2), numbers = Value.FromArray(new[] { 1.0 }))
        {
            Fails(ErrorCode.InvalidArgument, "input 'b' is missing", () => session.Run(a));
            Fails(ErrorCode.InvalidArgument, "there are more values than names", () => session.Run(a, b, a, b));
            Fails(ErrorCode.InvalidArgument, "input 'a' is tensor(float), but the value given holds double",
                  () => session.Run(numbers, b));
            Fails<ArgumentException>("the model has no input 'c'; it has a, b, factor",
                                     () => session.Run(new Dictionary<string, Value> { { "c", a } }));
            Fails<ArgumentException>("the model has no output 'product'; it has sum, scaled",
                                     () => session.Run(new Dictionary<string, Value> { { "a", a }, { "b", b } }, new[] { "product" }));
            Fails<ArgumentException>("there are 1 input names but 2 input values",
                                     () => session.Run(new[] { "a" }, new[] { a, b }, new[] { "sum" }, new Value[1]));
            Fails<ArgumentNullException>("inputs", () => session.Run((Value[])null));
            Fails<ArgumentNullException>("inputNames",
                                         () => session.Run(null, new[] { a, b }, new[] { "sum" }, new Value[1]));
            Fails<ArgumentNullException>("outputNames",
                                         () => session.Run(new[] { "a", "b" }, new[] { a, b }, null, new Value[1]));
            Fails<OrtolanException>("'inputs[i]' must not be NULL", () => session.Run(a, null));
        }
    }

    [Test]
    public void FailedRunsNameTheNodeAndSetNoOutput()
    {
        using (Session session = Open("failing"))
        using (Value index = Value.FromArray(new long[] { 7 }))
        {
            var outputs = new Value[1];
            Fails(ErrorCode.InvalidArgument, "node 'picker' (Gather): index 7",
                  () => session.Run(new[] { "index" }, new[] { index }, new[] { "y" }, outputs));
            Assert.IsNull(outputs[0]);
        }
    }

    [Test]
    public void ModelsComeFromBytes()
    {
        byte[] bytes = File.ReadAllBytes(Model("add"));
        using (var session = new Session(bytes))
        using (Value a = Floats(1), b = Floats(2))
        {
            Array.Clear(bytes, 0, bytes.Length);
            using (RunResults results = session.Run(a, b)) Assert.AreEqual(3f, results[0].ToArray<float>()[0]);
        }
    }

    [Test]
    public void BytesThatAreUsedDirectlyStayInPlace()
    {
        using (var options = new SessionOptions())
        {
            options["session.use_ort_model_bytes_directly"] = "1";
            using (var session = new Session(File.ReadAllBytes(Model("mlp")), options))
            {
                for (int i = 0; i < 20; ++i)
                {
                    GC.KeepAlive(new byte[1 << 20]);
                    GC.Collect();
                }
                using (Session other = Open("mlp"))
                using (Value x = Value.FromArray(Enumerable.Range(0, 32).Select(i => i / 32f).ToArray(), 1, 32))
                using (RunResults results = session.Run(x), expected = other.Run(x))
                    CollectionAssert.AreEqual(expected[0].ToArray<float>(), results[0].ToArray<float>());
            }
        }
    }

    [Test]
    public void UnreadableModelsAreErrors()
    {
        Fails(ErrorCode.NoSuchFile, "/no/such/modèle.onnx", () => new Session("/no/such/modèle.onnx").Dispose());
        Fails(ErrorCode.InvalidProtobuf, "broken.onnx", () => Open("broken").Dispose());
        Fails(ErrorCode.InvalidProtobuf, "the file is damaged", () => new Session(new byte[] { 1, 2, 3 }).Dispose());
        Fails<OrtolanException>("the model is empty", () => new Session(new byte[0]).Dispose());
        Fails<ArgumentException>("must not contain a NUL", () => new Session("a\0b").Dispose());
        Fails<ArgumentNullException>("path", () => new Session((string)null).Dispose());
    }

    [Test]
    public void InputsAndOutputsHaveTypes()
    {
        using (Session session = Open("identity_float16"))
        {
            TypeInfo type = session.Inputs.Single().Type;
            Assert.AreEqual(ValueKind.Tensor, type.Kind);
            Assert.AreEqual(ElementType.Float16, type.ElementType);
            CollectionAssert.AreEqual(new long[] { -1, -1 }, type.Shape);
            CollectionAssert.AreEqual(new[] { "rows", "columns" }, type.Symbols);
            Assert.IsNull(type.Content);
            Assert.AreEqual("x: tensor(Float16)[rows, columns]", session.Inputs[0].ToString());
        }
        using (Session session = Open("zip_map_words"))
        {
            TypeInfo type = session.Outputs.Single().Type;
            Assert.AreEqual(ValueKind.Sequence, type.Kind);
            Assert.AreEqual(ElementType.String, type.Content.ElementType);
            Assert.AreEqual(ElementType.Float, type.Content.Content.ElementType);
            Assert.AreEqual("sequence(map(String, tensor(Float)[]))", type.ToString());
        }
        using (Session session = Open("optional"))
            Assert.AreEqual("optional(tensor(Float)[?])", session.Inputs[0].Type.ToString());
        using (Session session = Open("mlp"))
            CollectionAssert.AreEqual(new long[] { 1, 32 }, session.Outputs[0].Type.Shape);
    }

    [Test]
    public void MetadataIsUtf8()
    {
        using (Session session = Open("add"))
        {
            ModelMetadata metadata = session.Metadata;
            Assert.AreEqual("ortolan-tests", metadata.Producer);
            Assert.AreEqual("add_graph", metadata.GraphName);
            Assert.AreEqual("two nodes", metadata.GraphDescription);
            Assert.AreEqual("org.ortolan.tests", metadata.Domain);
            Assert.AreEqual("adds – and scales", metadata.Description);
            Assert.AreEqual(7, metadata.Version);
            Assert.AreEqual(2, metadata.Properties.Count);
            Assert.AreEqual("Ørtolan", metadata.Properties["author"]);
            Assert.AreEqual("", metadata.Properties["empty"]);
        }
    }

    [Test]
    public void NodesAreAssigned()
    {
        using (var options = new SessionOptions { RecordNodeAssignments = true })
        using (Session session = Open("add", options))
        {
            CollectionAssert.AreEqual(
                new[] { "CPUExecutionProvider adder  Add", "CPUExecutionProvider scaler  Mul" },
                session.NodeAssignments.Select(node =>
                    $"{node.Provider} {node.Node} {node.Domain} {node.OperatorType}").ToArray());
        }
        using (Session session = Open("add"))
            Fails(ErrorCode.InvalidArgument, "record_ep_graph_assignment_info",
                  () => session.NodeAssignments.ToString());
    }

    [Test]
    public void ProfilesGoToAFile()
    {
        string prefix = Path.Combine(Path.GetTempPath(), "ortolan-cs-" + Guid.NewGuid());
        using (var options = new SessionOptions { ProfilePrefix = prefix })
        using (Session session = Open("add", options))
        using (Value a = Floats(1), b = Floats(2))
        {
            session.Run(a, b).Dispose();
            Assert.Greater(session.ProfilingStart, 0);
            string file = session.EndProfiling();
            StringAssert.StartsWith(prefix, file);
            StringAssert.Contains("adder", File.ReadAllText(file));
            File.Delete(file);
        }
        using (Session session = Open("add")) Assert.AreEqual("", session.EndProfiling());
    }

    [Test]
    public void InputsAndOutputsHaveMemory()
    {
        using (Session session = Open("add"))
        {
            Assert.AreEqual("Cpu", session.InputMemory(1).Name);
            MemoryInfo memory = session.OutputMemory(0);
            Assert.AreEqual(MemoryDeviceType.Cpu, memory.DeviceType);
            Assert.AreEqual(0, memory.DeviceId);
            Fails(ErrorCode.InvalidArgument, "no input or output of that index",
                  () => session.InputMemory(2).Dispose());
        }
    }

    [Test]
    public void RunsCanBeCancelled()
    {
        using (Session session = Open("endless"))
        using (var options = new RunOptions { Tag = "läuft" })
        using (var started = new ManualResetEventSlim())
        {
            Func<Exception> end = RunEndlessly(session, options, started);
            started.Wait();
            Thread.Sleep(50);
            options.Terminate = true;
            Assert.IsInstanceOf<OrtolanException>(end());
            using (Value x = Floats(0)) Fails<OrtolanException>("terminate is set", () => session.Run(new[] { x }, options));
        }
    }

    [Test]
    public void TokensCancelRuns()
    {
        using (Session session = Open("endless"))
        using (var options = new RunOptions())
        using (var source = new CancellationTokenSource())
        using (options.TerminateOn(source.Token))
        using (var started = new ManualResetEventSlim())
        {
            Func<Exception> end = RunEndlessly(session, options, started);
            started.Wait();
            source.CancelAfter(30);
            Assert.IsInstanceOf<OrtolanException>(end());
        }
    }

    [Test]
    public void RunOptionsKeepTheirSettings()
    {
        using (Session session = Open("add"))
        using (Value a = Floats(1), b = Floats(2))
        using (var options = new RunOptions { Tag = "Ø", LogSeverity = LogSeverity.Error, LogVerbosity = 3 })
        {
            Assert.AreEqual("Ø", options.Tag);
            Assert.AreEqual(LogSeverity.Error, options.LogSeverity);
            Assert.AreEqual(3, options.LogVerbosity);
            options.AddSetting("memory.enable_memory_arena_shrinkage", "cpu:0");
            options.Terminate = true;
            Assert.IsTrue(options.Terminate);
            options.Terminate = false;
            using (RunResults results = session.Run(new[] { a, b }, options))
                Assert.AreEqual(3f, results[0].ToArray<float>()[0]);
        }
    }
}
