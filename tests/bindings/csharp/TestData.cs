// What all tests share: the models, and values made in short.
using System;
using System.IO;
using System.Linq;
using System.Threading;
using NUnit.Framework;
using Ortolan;

static class TestData
{
    public static string Model(string name)
    {
        return Path.Combine(Environment.GetEnvironmentVariable("ORTOLAN_TEST_MODELS"), name + ".onnx");
    }

    public static string Plugin =>
        Path.Combine(Environment.GetEnvironmentVariable("ORTOLAN_TEST_PLUGINS"), "libonnxruntime_ep_example.so");

    public static string Digits => Environment.GetEnvironmentVariable("ORTOLAN_TEST_DIGITS");

    public static Session Open(string name, SessionOptions options = null, OrtolanEnvironment environment = null)
    {
        return new Session(Model(name), options, environment);
    }

    public static Value Floats(params float[] elements)
    {
        return Value.FromArray(elements);
    }

    /// <summary>The error of a call that must fail with these words: the few that tell this error from others.
    /// </summary>
    public static TError Fails<TError>(string words, TestDelegate call)
        where TError : Exception
    {
        var error = Assert.Throws<TError>(call);
        Assert.IsNotEmpty(words, "say which words tell this error from others: " + error.Message);
        StringAssert.Contains(words, error.Message);
        return error;
    }

    /// <summary>The same of a call that must fail in the library, with that code.</summary>
    public static OrtolanException Fails(ErrorCode code, string words, TestDelegate call)
    {
        var error = Fails<OrtolanException>(words, call);
        Assert.AreEqual(code, error.Code, error.Message);
        return error;
    }

    /// <summary>Moves what the collector can move, and frees what nobody has.</summary>
    public static void Collect()
    {
        for (int i = 0; i < 3; ++i)
        {
            GC.KeepAlive(Enumerable.Range(0, 1000).Select(n => new byte[1000]).ToArray());
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    /// <summary>Runs the endless model on a thread of its own and gives what the run threw.</summary>
    public static Func<Exception> RunEndlessly(Session session, RunOptions options, ManualResetEventSlim started)
    {
        Exception thrown = null;
        var thread = new Thread(() =>
        {
            try
            {
                using (Value x = Floats(0))
                {
                    started.Set();
                    session.Run(new[] { x }, options);
                }
            }
            catch (Exception error)
            {
                thrown = error;
            }
        });
        thread.IsBackground = true;
        thread.Start();
        return () =>
        {
            Assert.IsTrue(thread.Join(20000), "the run did not end");
            return thrown;
        };
    }
}
