// The numbers of the C interface, by name.
namespace Ortolan
{
    /// <summary>What went wrong, as <see cref="OrtolanException.Code"/> says it.</summary>
    public enum ErrorCode
    {
        /// <summary>Nothing.</summary>
        Ok = 0,
        /// <summary>Something that no other code names.</summary>
        Fail = 1,
        /// <summary>An argument is not possible.</summary>
        InvalidArgument = 2,
        /// <summary>A file is missing.</summary>
        NoSuchFile = 3,
        /// <summary>There is no model.</summary>
        NoModel = 4,
        /// <summary>The engine behind a provider failed.</summary>
        EngineError = 5,
        /// <summary>The library failed in a way that it did not expect.</summary>
        RuntimeException = 6,
        /// <summary>The bytes are no model.</summary>
        InvalidProtobuf = 7,
        /// <summary>The session has a model already.</summary>
        ModelLoaded = 8,
        /// <summary>This library lacks the function or operator.</summary>
        NotImplemented = 9,
        /// <summary>The model contradicts itself.</summary>
        InvalidGraph = 10,
        /// <summary>An execution provider failed.</summary>
        ProviderFail = 11,
        /// <summary>The program cancelled the loading of a model.</summary>
        ModelLoadCanceled = 12,
        /// <summary>The model must be compiled first and the session options forbid that.</summary>
        ModelRequiresCompilation = 13,
        /// <summary>What was asked for does not exist.</summary>
        NotFound = 14,
        /// <summary>A device lost its state.</summary>
        DeviceReset = 15,
    }

    /// <summary>Severities of log lines, rising.</summary>
    public enum LogSeverity
    {
        /// <summary>Everything.</summary>
        Verbose = 0,
        /// <summary>What happens.</summary>
        Info = 1,
        /// <summary>What may be a mistake.</summary>
        Warning = 2,
        /// <summary>What failed.</summary>
        Error = 3,
        /// <summary>What the process cannot survive.</summary>
        Fatal = 4,
    }

    /// <summary>How far a graph is rewritten; each level contains the ones before.</summary>
    public enum OptimizationLevel
    {
        /// <summary>Not at all.</summary>
        None = 0,
        /// <summary>Rewrites that any provider can run.</summary>
        Basic = 1,
        /// <summary>With operators that only some providers have.</summary>
        Extended = 2,
        /// <summary>With other data layouts.</summary>
        Layout = 3,
        /// <summary>Everything; the default.</summary>
        All = 99,
    }

    /// <summary>Whether the nodes of a model run one by one.</summary>
    public enum ExecutionMode
    {
        /// <summary>One node after the other; the default.</summary>
        Sequential = 0,
        /// <summary>Independent nodes at once, on the inter-op threads.</summary>
        Parallel = 1,
    }

    /// <summary>What a session prefers when it chooses among the devices itself.</summary>
    public enum DevicePolicy
    {
        /// <summary>The library's choice.</summary>
        Default = 0,
        /// <summary>The CPU.</summary>
        PreferCpu = 1,
        /// <summary>A neural processor.</summary>
        PreferNpu = 2,
        /// <summary>A graphics processor.</summary>
        PreferGpu = 3,
        /// <summary>Speed.</summary>
        MaxPerformance = 4,
        /// <summary>Few joules for a result.</summary>
        MaxEfficiency = 5,
        /// <summary>Few watts all the time.</summary>
        MinOverallPower = 6,
    }

    /// <summary>Kinds of hardware.</summary>
    public enum HardwareType
    {
        /// <summary>A processor.</summary>
        Cpu = 0,
        /// <summary>A graphics processor.</summary>
        Gpu = 1,
        /// <summary>A neural processor.</summary>
        Npu = 2,
    }

    /// <summary>Kinds of devices that have memory.</summary>
    public enum MemoryDeviceType
    {
        /// <summary>The main memory.</summary>
        Cpu = 0,
        /// <summary>The memory of a graphics processor.</summary>
        Gpu = 1,
        /// <summary>The memory of an FPGA.</summary>
        Fpga = 2,
        /// <summary>The memory of a neural processor.</summary>
        Npu = 3,
    }

    /// <summary>How memory is given out.</summary>
    public enum AllocatorType
    {
        /// <summary>Each piece from the device.</summary>
        Device = 0,
        /// <summary>From large pieces that are kept.</summary>
        Arena = 1,
    }

    /// <summary>What memory is for.</summary>
    public enum MemoryType
    {
        /// <summary>Memory of the CPU that a provider reads inputs from.</summary>
        CpuInput = -2,
        /// <summary>Memory of the CPU that a provider writes outputs to.</summary>
        CpuOutput = -1,
        /// <summary>The provider's own memory.</summary>
        Default = 0,
    }

    /// <summary>Kinds of values.</summary>
    public enum ValueKind
    {
        /// <summary>None of the others.</summary>
        Unknown = 0,
        /// <summary>A tensor.</summary>
        Tensor = 1,
        /// <summary>A sequence of values of one type.</summary>
        Sequence = 2,
        /// <summary>A map from numbers or strings to values.</summary>
        Map = 3,
        /// <summary>Something that only one provider knows.</summary>
        Opaque = 4,
        /// <summary>A tensor that lists its elements other than 0.</summary>
        SparseTensor = 5,
        /// <summary>A value or nothing.</summary>
        Optional = 6,
    }

    /// <summary>Element types of tensors. Types of less than a byte are packed, the first element in the low bits.</summary>
    public enum ElementType
    {
        /// <summary>None.</summary>
        Undefined = 0,
        /// <summary>32-bit floating point: <see cref="float"/>.</summary>
        Float = 1,
        /// <summary><see cref="byte"/>.</summary>
        UInt8 = 2,
        /// <summary><see cref="sbyte"/>.</summary>
        Int8 = 3,
        /// <summary><see cref="ushort"/>.</summary>
        UInt16 = 4,
        /// <summary><see cref="short"/>.</summary>
        Int16 = 5,
        /// <summary><see cref="int"/>.</summary>
        Int32 = 6,
        /// <summary><see cref="long"/>.</summary>
        Int64 = 7,
        /// <summary>UTF-8 bytes of any length: <see cref="string"/>.</summary>
        String = 8,
        /// <summary>A byte, 0 or 1: <see cref="bool"/>.</summary>
        Bool = 9,
        /// <summary>16-bit floating point: <see cref="Ortolan.Float16"/>.</summary>
        Float16 = 10,
        /// <summary>64-bit floating point: <see cref="double"/>.</summary>
        Double = 11,
        /// <summary><see cref="uint"/>.</summary>
        UInt32 = 12,
        /// <summary><see cref="ulong"/>.</summary>
        UInt64 = 13,
        /// <summary>Two 32-bit floating-point numbers.</summary>
        Complex64 = 14,
        /// <summary>Two 64-bit floating-point numbers.</summary>
        Complex128 = 15,
        /// <summary>The upper half of a float: <see cref="Ortolan.BFloat16"/>.</summary>
        BFloat16 = 16,
        /// <summary>8 bits: 4 of exponent, 3 of mantissa, no infinities.</summary>
        Float8E4M3FN = 17,
        /// <summary>The same without a negative zero.</summary>
        Float8E4M3FNUZ = 18,
        /// <summary>8 bits: 5 of exponent, 2 of mantissa.</summary>
        Float8E5M2 = 19,
        /// <summary>The same without infinities and a negative zero.</summary>
        Float8E5M2FNUZ = 20,
        /// <summary>4 bits, two a byte.</summary>
        UInt4 = 21,
        /// <summary>4 bits, two a byte.</summary>
        Int4 = 22,
        /// <summary>4 bits: 2 of exponent, 1 of mantissa; two a byte.</summary>
        Float4E2M1 = 23,
        /// <summary>2 bits, four a byte.</summary>
        UInt2 = 24,
        /// <summary>2 bits, four a byte.</summary>
        Int2 = 25,
        /// <summary>8 bits of exponent.</summary>
        Float8E8M0 = 26,
    }
}
