// What a model says about itself, and where its nodes run.
using System;
using System.Collections.Generic;

namespace Ortolan
{
    /// <summary>What a model says about itself. It is data of its own: nothing needs to stay alive for it.</summary>
    public sealed unsafe class ModelMetadata
    {
        delegate byte* TextOf(IntPtr metadata, out IntPtr status);

        /// <summary>Reads and frees.</summary>
        internal ModelMetadata(IntPtr metadata)
        {
            using (var owned = new Handle(metadata, Release.Metadata))
            using (var use = owned.Use())
            {
                Producer = Text(nativePINVOKE.metadata_producer, use.Address);
                GraphName = Text(nativePINVOKE.metadata_graph_name, use.Address);
                GraphDescription = Text(nativePINVOKE.metadata_graph_description, use.Address);
                Domain = Text(nativePINVOKE.metadata_domain, use.Address);
                Description = Text(nativePINVOKE.metadata_description, use.Address);
                Version = nativePINVOKE.metadata_version(use.Address, out IntPtr status);
                OrtolanException.Check(status);
                Properties = ReadProperties(use.Address);
            }
        }

        /// <summary>The program that wrote the model.</summary>
        public string Producer { get; }
        /// <summary>The name of the graph.</summary>
        public string GraphName { get; }
        /// <summary>The description of the graph.</summary>
        public string GraphDescription { get; }
        /// <summary>The domain, as a name turned around.</summary>
        public string Domain { get; }
        /// <summary>The description of the model.</summary>
        public string Description { get; }
        /// <summary>The version of the model.</summary>
        public long Version { get; }
        /// <summary>The model's own keys and values.</summary>
        public IReadOnlyDictionary<string, string> Properties { get; }

        static string Text(TextOf textOf, IntPtr metadata)
        {
            byte* text = textOf(metadata, out IntPtr status);
            OrtolanException.Check(status);
            return Utf8.Take(text);
        }

        static Dictionary<string, string> ReadProperties(IntPtr metadata)
        {
            var properties = new Dictionary<string, string>();
            IntPtr keys = nativePINVOKE.metadata_keys(metadata, out IntPtr status);
            OrtolanException.Check(status);
            foreach (string key in Utf8.Take(keys))
            {
                fixed (byte* text = Utf8.Terminated(key, nameof(key)))
                {
                    byte* value = nativePINVOKE.metadata_value(metadata, text, out status);
                    OrtolanException.Check(status);
                    properties[key] = Utf8.Take(value);
                }
            }
            return properties;
        }
    }

    /// <summary>Where a node of the model, as the session rewrote it, runs.</summary>
    public sealed class NodeAssignment
    {
        internal NodeAssignment(string provider, string node, string domain, string operatorType)
        {
            Provider = provider;
            Node = node;
            Domain = domain;
            OperatorType = operatorType;
        }

        /// <summary>The provider that runs it.</summary>
        public string Provider { get; }
        /// <summary>The name of the node.</summary>
        public string Node { get; }
        /// <summary>The domain of the operator; empty for ONNX's own.</summary>
        public string Domain { get; }
        /// <summary>The operator.</summary>
        public string OperatorType { get; }
    }
}
