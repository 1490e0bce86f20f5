// Facts about the native library.
using System;
using System.Collections.Generic;

namespace Ortolan
{
    /// <summary>The native library. Any thread may ask.</summary>
    public static unsafe class OrtolanLibrary
    {
        /// <summary>The version of the C interface: "1.", its level, and a patch number.</summary>
        public static string Version => Utf8.Read(nativePINVOKE.library_version());

        /// <summary>How the library was built.</summary>
        public static string BuildInfo => Utf8.Read(nativePINVOKE.library_build_info());

        /// <summary>The providers that sessions can have by name without registering a library, best first.</summary>
        public static IReadOnlyList<string> AvailableProviders
        {
            get
            {
                IntPtr list = nativePINVOKE.available_providers(out IntPtr status);
                OrtolanException.Check(status);
                return Utf8.Take(list);
            }
        }
    }
}
