// Texts on their way to C and back. C has them as UTF-8 that ends with a NUL.
using System;
using System.Collections.Generic;
using System.Text;

namespace Ortolan
{
    static unsafe class Utf8
    {
        /// <summary>Refuses texts that have no UTF-8: lone surrogates.</summary>
        public static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>The text with its NUL. Null is refused, and so is a NUL within, where C would end the text.</summary>
        public static byte[] Terminated(string text, string parameter)
        {
            if (text == null) throw new ArgumentNullException(parameter);
            if (text.IndexOf('\0') >= 0) throw new ArgumentException("the text must not contain a NUL", parameter);
            var bytes = new byte[Strict.GetByteCount(text) + 1];
            Strict.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }

        /// <summary>A borrowed text; null for NULL.</summary>
        public static string Read(byte* text)
        {
            if (text == null) return null;
            int length = 0;
            while (text[length] != 0) ++length;
            return length == 0 ? "" : Encoding.UTF8.GetString(text, length);
        }

        /// <summary>A text that is freed; null for NULL.</summary>
        public static string Take(byte* text)
        {
            try
            {
                return Read(text);
            }
            finally
            {
                nativePINVOKE.free_text(text);
            }
        }

        /// <summary>The texts of a list, which stays.</summary>
        public static string[] Read(Handle list)
        {
            using (var use = list.Use())
            {
                var texts = new string[nativePINVOKE.text_count(use.Address)];
                for (int i = 0; i < texts.Length; ++i) texts[i] = Read(nativePINVOKE.text_at(use.Address, i));
                return texts;
            }
        }

        /// <summary>The texts of a list, which is freed.</summary>
        public static string[] Take(IntPtr list)
        {
            using (var owned = new Handle(list, Release.Texts)) return Read(owned);
        }

        /// <summary>Borrowed keys and values as a dictionary of their own; none for NULL.</summary>
        public static IReadOnlyDictionary<string, string> ReadSettings(IntPtr settings)
        {
            var pairs = new Dictionary<string, string>();
            long count = settings == IntPtr.Zero ? 0 : nativePINVOKE.setting_count(settings);
            for (long i = 0; i < count; ++i)
                pairs[Read(nativePINVOKE.setting_key(settings, i))] = Read(nativePINVOKE.setting_value(settings, i));
            return pairs;
        }

        /// <summary>New keys and values for C; null gives none.</summary>
        public static Handle Settings(IEnumerable<KeyValuePair<string, string>> pairs)
        {
            var settings = new Handle(nativePINVOKE.create_settings(), Release.Settings);
            if (pairs == null) return settings;
            using (var use = settings.Use())
            {
                foreach (var pair in pairs)
                {
                    fixed (byte* key = Terminated(pair.Key, "key"), value = Terminated(pair.Value, "value"))
                        nativePINVOKE.add_setting(use.Address, key, value);
                }
            }
            return settings;
        }
    }
}
