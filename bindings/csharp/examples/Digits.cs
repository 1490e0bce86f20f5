// Says which digit each picture shows: Digits.exe MODEL PICTURE... The pictures are 8 x 8 PGM files, as plain text.
using System;
using System.IO;
using System.Linq;
using Ortolan;

static class Digits
{
    const int Side = 8;

    static int Main(string[] arguments)
    {
        if (arguments.Length < 2)
        {
            Console.Error.WriteLine("usage: Digits.exe MODEL PICTURE...");
            return 2;
        }
        using (var session = new Session(arguments[0]))
        {
            foreach (string file in arguments.Skip(1))
            {
                using (Value picture = Value.FromArray(ReadPicture(file), 1, 1, Side, Side))
                using (RunResults results = session.Run(picture))
                {
                    float[] scores = results[0].ToArray<float>();
                    Console.WriteLine($"{Path.GetFileName(file)}: {Array.IndexOf(scores, scores.Max())}");
                }
            }
        }
        return 0;
    }

    /// <summary>The pixels of a picture, from 0 to 1.</summary>
    static float[] ReadPicture(string file)
    {
        string[] words = File.ReadLines(file).Where(line => !line.StartsWith("#"))
            .SelectMany(line => line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries)).ToArray();
        if (words[0] != "P2" || words[1] != $"{Side}" || words[2] != $"{Side}")
            throw new InvalidDataException($"{file} is not a PGM text file of {Side} x {Side} pixels");
        float white = float.Parse(words[3]);
        return words.Skip(4).Select(pixel => float.Parse(pixel) / white).ToArray();
    }
}
