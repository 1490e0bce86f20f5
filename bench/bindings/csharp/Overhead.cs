// What a run costs from C#: Overhead.exe MODEL SECONDS. One run makes a value over an array of 32 floats, runs the model
// (x to y), reads the 32 floats of the result into an array and frees both. Prints the median over batches of 1000 runs.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using Ortolan;

static class Overhead
{
    const int Width = 32, Batch = 1000;

    static float Run(Session session, float[] input)
    {
        using (Value x = Value.FromArray(input, 1, Width))
        using (RunResults results = session.Run(x))
        {
            float sum = 0;
            foreach (float element in results[0].ToArray<float>()) sum += element;
            return sum;
        }
    }

    static int Main(string[] arguments)
    {
        if (arguments.Length != 2)
        {
            Console.Error.WriteLine("usage: Overhead.exe MODEL SECONDS");
            return 2;
        }
        double seconds = double.Parse(arguments[1], CultureInfo.InvariantCulture);
        var input = new float[Width];
        for (int i = 0; i < Width; ++i) input[i] = (float)i / Width;
        var batches = new List<double>();
        float sum = 0;
        using (var options = new SessionOptions { IntraOpThreads = 1 })
        using (var session = new Session(arguments[0], options))
        {
            for (Stopwatch total = Stopwatch.StartNew(); total.Elapsed.TotalSeconds < seconds;)
            {
                Stopwatch batch = Stopwatch.StartNew();
                for (int i = 0; i < Batch; ++i) sum += Run(session, input);
                batches.Add(1e6 * batch.Elapsed.TotalSeconds / Batch);
            }
        }
        if (float.IsNaN(sum)) throw new InvalidOperationException("the model gives no numbers");
        batches.Sort();
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "median_us {0:F3}", batches[batches.Count / 2]));
        return 0;
    }
}
