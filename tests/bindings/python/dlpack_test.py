"""DLPack: tensors shared with NumPy and back, without copies."""
import gc
import sys
import unittest

import numpy as np
import ortolan as ort
from support import floats, main, model

Element = ort.TensorElementType
TYPES = "f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8".split()
NUMPY_HAS_BOOL = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (1, 25)  # earlier ones refuse bool


class Out(unittest.TestCase):
    def test_all_types(self):
        for name in TYPES + ["?"] * NUMPY_HAS_BOOL:
            array = np.arange(6).reshape(2, 3).astype(name)
            value = ort.OrtValue.ortvalue_from_numpy(array)
            shared = np.from_dlpack(value)
            self.assertEqual((shared.dtype, shared.tolist()), (array.dtype, array.tolist()))
            self.assertEqual(shared.ctypes.data, array.ctypes.data)

    def test_device(self):
        self.assertEqual(ort.OrtValue.ortvalue_from_numpy(floats(1)).__dlpack_device__(), (1, 0))

    def test_memory_stays_alive(self):
        shared = np.from_dlpack(ort.OrtValue.ortvalue_from_numpy(np.full(10000, 7, np.float32)))
        gc.collect()
        junk = np.full(10000, -1, np.float32)
        self.assertEqual((shared.min(), shared.max(), junk[0]), (7, 7, -1))

    def test_references_come_back(self):
        array = floats(1, 2)
        before = sys.getrefcount(array)
        for _ in range(50):
            value = ort.OrtValue.ortvalue_from_numpy(array)
            np.from_dlpack(value)
            value.__dlpack__(stream=None)
            ort.OrtValue.from_dlpack(value)
        del value
        gc.collect()
        self.assertEqual(sys.getrefcount(array), before)

    def test_scalars_and_nothing(self):
        for array in (np.array(5, np.int32), np.empty((0, 3), np.float32)):
            shared = np.from_dlpack(ort.OrtValue.ortvalue_from_numpy(array))
            self.assertEqual((shared.shape, shared.tolist()), (array.shape, array.tolist()))

    def test_what_cannot_be_told(self):
        texts = ort.OrtValue.ortvalue_from_numpy(np.array(["a"]))
        with self.assertRaisesRegex(BufferError, "DLPack has no elements of ONNX's type 8"):
            texts.__dlpack__()
        value = ort.OrtValue.ortvalue_from_numpy(floats(1))
        for keywords in ({"copy": True}, {"dl_device": (2, 0)}):
            with self.assertRaisesRegex(BufferError, "tensors are shared where they are"):
                value.__dlpack__(**keywords)
        value.close()
        with self.assertRaisesRegex(ValueError, "the OrtValue is closed"):
            value.__dlpack__()
        with self.assertRaisesRegex(ort.InvalidArgument, "the value is a sequence, not a tensor"):
            ort.OrtValue.ortvalue_from_sequence([floats(1)]).__dlpack__()


class In(unittest.TestCase):
    def test_all_types(self):
        for name in TYPES + ["?"] * NUMPY_HAS_BOOL:
            array = np.arange(6).reshape(2, 3).astype(name)
            value = ort.OrtValue.from_dlpack(array)
            self.assertEqual((value.numpy().dtype, value.numpy().tolist()), (array.dtype, array.tolist()))
            self.assertEqual(value.data_ptr(), array.ctypes.data)

    def test_types_that_numpy_lacks(self):
        for element, count in ((Element.BFLOAT16, 6), (Element.FLOAT8E4M3FN, 3), (Element.INT4, 2), (Element.UINT4, 2)):
            value = ort.OrtValue.ortvalue_from_bytes(bytes(range(count)), [3], element)
            again = ort.OrtValue.from_dlpack(value)
            self.assertEqual((again.element_type(), again.shape(), again.data_ptr()), (element, [3], value.data_ptr()))

    def test_memory_is_shared_and_kept(self):
        array = np.arange(10000.0)
        value = ort.OrtValue.from_dlpack(array)
        array[0] = 9
        del array
        gc.collect()
        np.full(10000, -1.0)
        self.assertEqual((value.numpy()[0], value.numpy()[-1]), (9, 9999))

    def test_capsules_are_used_up(self):
        capsule = ort.OrtValue.ortvalue_from_numpy(floats(1, 2)).__dlpack__()
        value = ort.OrtValue.from_dlpack(capsule)
        gc.collect()
        self.assertEqual(value.numpy().tolist(), [1, 2])
        with self.assertRaisesRegex(TypeError, "capsule named 'dltensor' that is not used yet"):
            ort.OrtValue.from_dlpack(capsule)

    def test_what_is_not_taken(self):
        with self.assertRaisesRegex(BufferError, "must be contiguous"):
            ort.OrtValue.from_dlpack(np.ones((2, 3), np.float32).T)
        with self.assertRaisesRegex(TypeError, "capsule named 'dltensor'"):
            ort.OrtValue.from_dlpack(5)

    def test_runs(self):
        session = ort.InferenceSession(model("add"))
        value = ort.OrtValue.from_dlpack(floats(1, 2))
        self.assertEqual(session.run(["sum"], {"a": value, "b": floats(3, 4)})[0].tolist(), [4, 6])


if __name__ == "__main__":
    main()
