// What the assembly says about itself.
using System.Reflection;
using System.Runtime.InteropServices;

[assembly: AssemblyTitle("Ortolan")]
[assembly: AssemblyDescription("Runs ONNX models.")]
[assembly: AssemblyVersion("1.31.0.0")]
[assembly: AssemblyFileVersion("1.31.0.0")]
[assembly: ComVisible(false)]
