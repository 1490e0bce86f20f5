// Makes builds reproducible: mcs gives every assembly a random identity, the module version id; Identify.exe ASSEMBLY
// replaces it by one made from all other bytes, so that equal sources give equal files.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Security.Cryptography;

static class Identify
{
    static int Main(string[] arguments)
    {
        byte[] file = File.ReadAllBytes(arguments[0]);
        byte[] identity = Assembly.Load(file).ManifestModule.ModuleVersionId.ToByteArray();
        int[] places = Enumerable.Range(0, file.Length - identity.Length + 1)
            .Where(place => file[place] == identity[0] && identity.SequenceEqual(file.Skip(place).Take(identity.Length)))
            .ToArray();
        if (places.Length != 1)
        {
            Console.Error.WriteLine($"Identify: {arguments[0]} has its module version id in {places.Length} places, not in 1");
            return 1;
        }
        Array.Clear(file, places[0], identity.Length);
        using (SHA256 hash = SHA256.Create()) Array.Copy(hash.ComputeHash(file), 0, file, places[0], identity.Length);
        File.WriteAllBytes(arguments[0], file);
        return 0;
    }
}
