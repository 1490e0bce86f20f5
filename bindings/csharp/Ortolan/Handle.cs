// Objects of the C interface as SafeHandles: closed once, never while a call uses them, and never before their children.
using System;
using System.Runtime.InteropServices;

namespace Ortolan
{
    /// <summary>
    /// Owns an object of the library. Close frees it as soon as no call and no child uses it; afterwards Use throws. The
    /// finaliser does the same for objects that nobody closed.
    /// </summary>
    sealed class Handle : SafeHandle
    {
        readonly Action<IntPtr> free;
        Handle parent;
        Handle[] parents;
        GCHandle pin;
        object kept;
        volatile bool closed;

        /// <summary>Takes over <paramref name="address"/>, which is freed by <paramref name="release"/>.</summary>
        public Handle(IntPtr address, Action<IntPtr> release) : base(IntPtr.Zero, true)
        {
            free = release;
            SetHandle(address);
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        /// <summary>Takes over a share of <paramref name="ancestor"/>, made by Share, until this is freed.</summary>
        public Handle Under(Handle ancestor)
        {
            parent = ancestor;
            return this;
        }

        /// <summary>Likewise, for many.</summary>
        public Handle Under(Handle[] ancestors)
        {
            parents = ancestors;
            return this;
        }

        /// <summary>Keeps an array in its place until this is freed.</summary>
        public Handle Pinning(GCHandle pinned)
        {
            pin = pinned;
            return this;
        }

        /// <summary>Keeps an object from being collected until this is freed.</summary>
        public Handle Keeping(object needed)
        {
            kept = needed;
            return this;
        }

        /// <summary>What Keeping keeps.</summary>
        public object Kept => kept;

        /// <summary>Counts one more owner, for a child; ends with DangerousRelease. Throws after Close.</summary>
        public Handle Share()
        {
            // SafeHandle counts new owners as long as it has old ones, closed or not.
            if (closed || handle == IntPtr.Zero) throw new ObjectDisposedException(null, "the object has been closed");
            bool shared = false;
            DangerousAddRef(ref shared);
            return this;
        }

        /// <summary>
        /// A handle of its own that keeps this: new owners can share it even when this has been closed meanwhile. It comes
        /// with one share; Drop ends it.
        /// </summary>
        public Handle Hold()
        {
            return new Handle(DangerousGetHandle(), Release.Nothing).Under(Share()).Share();
        }

        /// <summary>Ends what Hold began.</summary>
        public void Drop()
        {
            Dispose();
            DangerousRelease();
        }

        /// <summary>The address, for as long as the result is not disposed. Throws after Close.</summary>
        public InUse Use()
        {
            Share();
            return new InUse(this);
        }

        protected override void Dispose(bool disposing)
        {
            closed = true;
            base.Dispose(disposing);
        }

        protected override bool ReleaseHandle()
        {
            free(handle);
            if (parent != null) parent.DangerousRelease();
            if (parents != null) Release.Shares(parents);
            if (pin.IsAllocated) pin.Free();
            kept = null;
            return true;
        }

        /// <summary>Keeps the object during a call.</summary>
        public struct InUse : IDisposable
        {
            readonly Handle owner;

            public InUse(Handle owner)
            {
                this.owner = owner;
            }

            /// <summary>NULL when there is no object.</summary>
            public IntPtr Address => owner == null ? IntPtr.Zero : owner.handle;

            public void Dispose()
            {
                if (owner != null) owner.DangerousRelease();
            }
        }
    }

    /// <summary>How each kind of object is freed.</summary>
    static class Release
    {
        public static readonly Action<IntPtr> Nothing = address => { };
        public static readonly Action<IntPtr> Texts = nativePINVOKE.release_texts;
        public static readonly Action<IntPtr> Settings = nativePINVOKE.release_settings;
        public static readonly Action<IntPtr> Memory = nativePINVOKE.release_memory;
        public static readonly Action<IntPtr> SessionOptions = nativePINVOKE.release_session_options;
        public static readonly Action<IntPtr> RunOptions = nativePINVOKE.release_run_options;
        public static readonly Action<IntPtr> Session = nativePINVOKE.release_session;
        public static readonly Action<IntPtr> Metadata = nativePINVOKE.release_metadata;
        public static readonly Action<IntPtr> Type = nativePINVOKE.release_type;
        public static readonly Action<IntPtr> Value = nativePINVOKE.release_value;
        public static readonly Action<IntPtr> Binding = nativePINVOKE.release_binding;

        /// <summary>Ends shares that Handle.Share began; nulls are passed over.</summary>
        public static void Shares(Handle[] shared)
        {
            foreach (Handle handle in shared)
            {
                if (handle != null) handle.DangerousRelease();
            }
        }

        /// <summary>A share of each, all or none.</summary>
        public static Handle[] Share(params Handle[] handles)
        {
            var shared = new Handle[handles.Length];
            try
            {
                for (int i = 0; i < handles.Length; ++i) shared[i] = handles[i].Share();
                return shared;
            }
            catch
            {
                Shares(shared);
                throw;
            }
        }
    }
}
