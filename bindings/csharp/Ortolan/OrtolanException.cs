// Errors of the library, and how a status of the C interface becomes one.
using System;

namespace Ortolan
{
    /// <summary>
    /// An error that the library found. The message is the library's own text, which names the node, input or file and
    /// the values that do not fit. Errors that this assembly finds itself are <see cref="ArgumentException"/>s (shapes
    /// that do not match the data, texts with a NUL), and every use of a closed object is an
    /// <see cref="ObjectDisposedException"/>.
    /// </summary>
    [Serializable]
    public sealed class OrtolanException : Exception
    {
        /// <summary>An error of that code and text.</summary>
        public OrtolanException(ErrorCode code, string message) : base(message)
        {
            Code = code;
        }

        /// <summary>What went wrong.</summary>
        public ErrorCode Code { get; }

        /// <summary>Throws when a call has failed, and frees its status.</summary>
        internal static void Check(IntPtr status)
        {
            if (status != IntPtr.Zero) throw Take(status);
        }

        static unsafe OrtolanException Take(IntPtr status)
        {
            var error = new OrtolanException((ErrorCode)nativePINVOKE.status_code(status),
                                             Utf8.Read(nativePINVOKE.status_text(status)));
            nativePINVOKE.release_status(status);
            return error;
        }
    }
}
