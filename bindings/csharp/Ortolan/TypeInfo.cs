// Types of values, as plain data.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Ortolan
{
    /// <summary>The type of a value. It is data of its own: nothing needs to stay alive for it.</summary>
    public sealed class TypeInfo
    {
        static readonly long[] noShape = new long[0];
        static readonly string[] noSymbols = new string[0];

        TypeInfo(ValueKind kind, ElementType element, long[] shape, string[] symbols, TypeInfo content)
        {
            Kind = kind;
            ElementType = element;
            Shape = shape;
            Symbols = symbols;
            Content = content;
        }

        /// <summary>Tensor, sequence, map or optional.</summary>
        public ValueKind Kind { get; }

        /// <summary>Of tensors, their elements; of maps, their keys; of others Undefined.</summary>
        public ElementType ElementType { get; }

        /// <summary>Of tensors: a size for each dimension, -1 where it is symbolic or unknown. Empty for scalars.</summary>
        public IReadOnlyList<long> Shape { get; }

        /// <summary>Of tensors: the name of each symbolic dimension, empty for those that have none.</summary>
        public IReadOnlyList<string> Symbols { get; }

        /// <summary>What sequences and optionals hold, and the values of maps; null for tensors.</summary>
        public TypeInfo Content { get; }

        /// <summary>The type as text, as tensor(Float)[batch, 3].</summary>
        public override string ToString()
        {
            if (Kind == ValueKind.Map) return $"map({ElementType}, {Content})";
            if (Content != null) return $"{Kind.ToString().ToLowerInvariant()}({Content})";
            var sizes = Shape.Select((size, i) => size >= 0 ? size.ToString() : Symbols[i].Length > 0 ? Symbols[i] : "?");
            return $"{Kind.ToString().ToLowerInvariant()}({ElementType})[{string.Join(", ", sizes)}]";
        }

        /// <summary>Reads and frees a type of the library.</summary>
        internal static TypeInfo Take(IntPtr type)
        {
            using (var owned = new Handle(type, Release.Type))
            using (var use = owned.Use()) return Read(use.Address);
        }

        static unsafe TypeInfo Read(IntPtr type)
        {
            var kind = (ValueKind)nativePINVOKE.type_kind(type, out IntPtr status);
            OrtolanException.Check(status);
            var element = (ElementType)nativePINVOKE.type_element(type, out status);
            OrtolanException.Check(status);
            IntPtr content = nativePINVOKE.type_content(type, out status);
            OrtolanException.Check(status);
            if (content != IntPtr.Zero) return new TypeInfo(kind, element, noShape, noSymbols, Take(content));
            var shape = new long[nativePINVOKE.type_rank(type, out status)];
            OrtolanException.Check(status);
            var symbols = new string[shape.Length];
            for (int i = 0; i < shape.Length; ++i)
            {
                shape[i] = nativePINVOKE.type_dimension(type, i, out status);
                OrtolanException.Check(status);
                byte* symbol = nativePINVOKE.type_symbol(type, i, out status);
                OrtolanException.Check(status);
                symbols[i] = Utf8.Take(symbol);
            }
            return new TypeInfo(kind, element, shape, symbols, null);
        }
    }

    /// <summary>An input or output of a model, or an initializer that runs may override.</summary>
    public sealed class NodeInfo
    {
        internal NodeInfo(string name, TypeInfo type)
        {
            Name = name;
            Type = type;
        }

        /// <summary>Its name in the model.</summary>
        public string Name { get; }

        /// <summary>Its type, with the shape as far as the model says it.</summary>
        public TypeInfo Type { get; }

        /// <summary>Name and type.</summary>
        public override string ToString() => $"{Name}: {Type}";
    }
}
