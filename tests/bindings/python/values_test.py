"""Arrays and other objects as inputs and outputs, and OrtValue."""
import gc
import pathlib
import re
import sys
import unittest
import weakref

import numpy as np
import ortolan as ort
from ortolan import _convert
from support import floats, main, model

NUMBERS = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "int8": np.int8, "uint8": np.uint8,
    "int16": np.int16, "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64,
    "uint64": np.uint64, "bool": np.bool_,
}
Element = ort.TensorElementType


def identity(kind):
    return ort.InferenceSession(model(f"identity_{kind}"))


def passed(session, value):
    """What comes out of y = x."""
    output, = session.run(None, {"x": value})
    return output


class Arrays(unittest.TestCase):
    def test_all_types_of_numbers(self):
        for kind, dtype in NUMBERS.items():
            session = identity(kind)
            for shape in ((2, 3), (40, 100), (0, 3), (1, 0)):
                with self.subTest(kind=kind, shape=shape):
                    array = (np.arange(np.prod(shape)).reshape(shape) % 2).astype(dtype)
                    output = passed(session, array)
                    self.assertEqual((output.dtype, output.shape), (array.dtype, shape))
                    np.testing.assert_array_equal(output, array)

    def test_both_names_of_64_bits(self):
        for dtype in (np.longlong, np.int_, np.int64):
            self.assertEqual(passed(identity("int64"), np.array([[5]], dtype)).tolist(), [[5]])
        self.assertEqual(passed(identity("uint64"), np.array([[5]], np.ulonglong)).dtype, np.uint64)

    def test_outputs_are_arrays_of_their_own(self):
        session = identity("float")
        for size in (4, 4000):
            array = np.ones((size, size), np.float32)
            output = passed(session, array)
            self.assertTrue(output.flags.writeable and output.flags.c_contiguous and output.flags.aligned)
            self.assertFalse(np.shares_memory(output, array))
            output[:] = 7
            self.assertEqual(array.max(), 1)
            self.assertEqual(passed(session, array).max(), 1)

    def test_arrays_in_any_order(self):
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        session = identity("float")
        for array in (base.T, base[::2, ::-3], base[:, 1:3], np.asfortranarray(base), base[::-1],
                      np.broadcast_to(base[0], (3, 6))):
            np.testing.assert_array_equal(passed(session, array), array)

    def test_arrays_of_the_other_byte_order(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(passed(identity("float"), array.astype(">f4")), array)
        np.testing.assert_array_equal(passed(identity("int16"), array.astype(">i2")), array)

    def test_arrays_that_are_not_aligned_or_writeable(self):
        raw = np.zeros(33, np.uint8)
        array = raw[1:].view(np.float32).reshape(2, 4)
        array[:] = 5
        self.assertFalse(array.flags.aligned)
        np.testing.assert_array_equal(passed(identity("float"), array), np.full((2, 4), 5))
        frozen = np.ones((2, 2), np.float32)
        frozen.flags.writeable = False
        np.testing.assert_array_equal(passed(identity("float"), frozen), frozen)

    def test_subclasses_and_fields(self):
        record = np.zeros((2, 2), [("other", np.int8), ("number", np.float32)])
        record["number"] = 3
        np.testing.assert_array_equal(passed(identity("float"), record["number"]), np.full((2, 2), 3))
        masked = np.ma.masked_array(np.ones((1, 2), np.float32), mask=False)
        self.assertEqual(passed(identity("float"), masked).tolist(), [[1, 1]])

    def test_lists_and_numbers(self):
        self.assertEqual(passed(identity("float"), [[1, 2.5]]).tolist(), [[1, 2.5]])
        self.assertEqual(passed(identity("int64"), ((1, 2), (3, 4))).tolist(), [[1, 2], [3, 4]])
        self.assertEqual(passed(identity("bool"), [[True, False]]).tolist(), [[True, False]])
        scalar = ort.InferenceSession(model("add"))
        self.assertEqual(scalar.run(["sum"], {"a": floats(1), "b": [np.float32(2)]})[0].tolist(), [3])

    def test_numbers_that_do_not_fit_are_refused(self):
        for kind, value, said in (("int8", [[1000]], "a number does not fit int8"),
                                  ("float", [["x"]], "are not numbers"),
                                  ("int64", [[1], [2, 3]], "inhomogeneous shape"),
                                  ("int64", [[1.5]], "a number does not fit int64"),
                                  ("uint8", [[-1]], "a number does not fit uint8"),
                                  ("bool", [[2]], "a number does not fit bool"),
                                  ("float", [[None]], "are not numbers"),
                                  ("uint64", [[2**70]], "are not numbers")):
            with self.assertRaisesRegex(ort.InvalidArgument, said):
                passed(identity(kind), value)

    def test_other_types_are_refused(self):
        for array, said in ((np.ones((1, 1)), r"\(tensor\(double\)\)"), (np.ones((1, 1), np.int32), r"\(tensor\(int32\)\)"),
                            (np.array([["x"]]), r"\(tensor\(string\)\)"),
                            (np.ones((1, 1), "M8[s]"), r"NumPy's datetime64\[s\]")):
            with self.assertRaisesRegex(ort.InvalidArgument, "Unexpected input data type. Actual: .*" + said +
                                        r".* expected: \(tensor\(float\)\)"):
                passed(identity("float"), array)

    def test_bfloat16(self):
        session = identity("bfloat16")
        one = np.array([[0x3F80, 0x4000]], np.uint16)  # 1 and 2
        output = passed(session, one)
        self.assertEqual(output.view(np.uint16).tolist(), one.tolist())
        self.assertEqual(passed(session, output).view(np.uint16).tolist(), one.tolist())
        try:
            import ml_dtypes
        except ImportError:
            self.assertEqual(output.dtype, np.uint16)
        else:
            self.assertEqual(output.dtype, ml_dtypes.bfloat16)

    def test_references_come_back(self):
        session = identity("float")
        for array in (np.ones((2, 2), np.float32), np.ones((2, 2), ">f4"), np.ones((4, 4), np.float32)[:, ::2]):
            feed, before = {"x": array}, sys.getrefcount(array)
            for _ in range(100):
                session.run(None, feed)
            self.assertEqual(sys.getrefcount(array), before)
        wrong = np.ones((2, 2))
        before = sys.getrefcount(wrong)
        for _ in range(100):
            with self.assertRaisesRegex(ort.InvalidArgument, r"Actual: \(tensor\(double\)\)"):
                session.run(None, {"x": wrong})
        gc.collect()
        self.assertEqual(sys.getrefcount(wrong), before)


class ElementTypes(unittest.TestCase):
    def test_numbers_are_those_of_the_c_interface(self):
        header = pathlib.Path(__file__).parents[3] / "include_c" / "onnxruntime_c_api.h"
        stated = re.findall(r"ONNX_TENSOR_ELEMENT_DATA_TYPE_(\w+) = (\d+)", header.read_text(encoding="utf-8"))
        self.assertEqual([(element.name, str(element.value)) for element in Element], stated)


class Texts(unittest.TestCase):
    def test_texts_of_all_kinds(self):
        session = identity("string")
        for value in ([["a\0b", "ö", ""]], np.array([["a\0b", "ö", ""]], object), (("a\0b", "ö", ""),)):
            output = passed(session, value)
            self.assertEqual((output.dtype, output.tolist()), (np.dtype(object), [["a\0b", "ö", ""]]))
        self.assertEqual(passed(session, np.array([["äb", "c"]])).tolist(), [["äb", "c"]])
        self.assertEqual(passed(session, np.array([[b"x", b"yz"]])).tolist(), [["x", "yz"]])
        self.assertEqual(passed(session, np.array([["1", "2"], ["3", "4"]], object).T).tolist(), [["1", "3"], ["2", "4"]])

    def test_no_texts(self):
        self.assertEqual(passed(identity("string"), np.empty((0, 2), object)).shape, (0, 2))

    def test_what_is_no_text_is_refused(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "made of str or bytes, not of 'int'"):
            passed(identity("string"), np.array([[1]], object))

    def test_bytes_outside_utf8_are_replaced(self):
        self.assertEqual(passed(identity("string"), np.array([[b"\xff"]], object)).tolist(), [["\ufffd"]])


class Containers(unittest.TestCase):
    def test_sequences(self):
        session = ort.InferenceSession(model("sequence"))
        pair, second = session.run(None, {"a": floats(1, 2), "b": floats(3)})
        self.assertEqual([part.tolist() for part in pair], [[1, 2], [3]])
        self.assertEqual(second.tolist(), [3])
        length = ort.InferenceSession(model("sequence_length"))
        for value in ([floats(1), floats(2, 3)], (floats(1), [2, 3])):
            self.assertEqual(length.run(None, {"s": value})[0], 2)
        for value in ("ab", 7):
            with self.assertRaisesRegex(ort.InvalidArgument, "a list is needed for a sequence"):
                length.run(None, {"s": value})

    def test_maps(self):
        words = ort.InferenceSession(model("zip_map_words"))
        self.assertEqual(words.run(None, {"x": [[1, 2, 3], [4, 5, 6]]}),
                         [[{"cat": 1, "dög": 2, "bird": 3}, {"cat": 4, "dög": 5, "bird": 6}]])
        numbers = ort.InferenceSession(model("zip_map_numbers"))
        self.assertEqual(numbers.run(None, {"x": [[1, 2, 3]]}), [[{10: 1, 20: 2, 30: 3}]])
        vector = ort.InferenceSession(model("map_to_vector"))
        self.assertEqual(vector.run(None, {"words": {"dog": 2.5}})[0].tolist(), [[0, 2.5, 0]])
        with self.assertRaisesRegex(ort.InvalidArgument, r"a dict is needed for a map\(string,tensor\(float\)\)"):
            vector.run(None, {"words": [1]})

    def test_maps_of_a_sequence_are_apart(self):
        numbers = ort.InferenceSession(model("zip_map_numbers"))
        kind = numbers._output_types["maps"]
        for maps in ([{1: 2.0}, {3: 4.0}, {3: 5.0, 6: 7.0}, {}, {1: 8.0}], [{}, {}], [{2: 1.0}, {2: 3.0}]):
            self.assertEqual(_convert.object_of(_convert.value_of(maps, kind)), maps)
        first, second = numbers.run(None, {"x": [[1, 2, 3], [4, 5, 6]]})[0]
        first[10] = None
        self.assertEqual(second, {10: 4, 20: 5, 30: 6})

    def test_optionals(self):
        session = ort.InferenceSession(model("optional"))
        self.assertTrue(session.run(None, {"x": floats(1)})[0])


class Values(unittest.TestCase):
    def test_tensors_over_arrays(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        value = ort.OrtValue.ortvalue_from_numpy(array)
        self.assertEqual((value.shape(), value.data_type(), value.element_type()),
                         ([2, 3], "tensor(float)", Element.FLOAT))
        self.assertEqual((value.device_name(), value.data_ptr(), value.tensor_size_in_bytes()),
                         ("cpu", array.ctypes.data, 24))
        self.assertTrue(value.is_tensor() and value.has_value())
        self.assertFalse(value.is_sparse_tensor() or value.is_tensor_sequence() or value.is_map())
        array[0, 0] = 9
        self.assertEqual(value.numpy()[0, 0], 9)

    def test_values_keep_arrays_and_views_keep_values(self):
        class Traced(np.ndarray):
            pass

        array = np.ones(1000, np.float32).view(Traced)
        gone = weakref.ref(array)
        value = ort.OrtValue.ortvalue_from_numpy(array)
        del array
        gc.collect()
        self.assertEqual(value.numpy().sum(), 1000)
        view = value.numpy(copy=False)
        self.assertEqual(view.ctypes.data, value.data_ptr())
        del value
        gc.collect()
        self.assertEqual(view.sum(), 1000)
        del view
        gc.collect()
        # NumPy's asarray took a plain view of the array; both are gone with the value.
        self.assertIsNone(gone())

    def test_numpy_copies(self):
        value = ort.OrtValue.ortvalue_from_numpy(floats(1))
        copy = value.numpy()
        value.update_inplace(floats(2))
        self.assertEqual((copy.tolist(), value.numpy().tolist()), ([1], [2]))
        self.assertEqual(np.asarray(value).tolist(), [2])

    def test_zeros(self):
        for dtype in (np.float32, np.int64, np.bool_):
            value = ort.OrtValue.ortvalue_from_shape_and_type([3, 2], dtype)
            np.testing.assert_array_equal(value.numpy(), np.zeros((3, 2), dtype))
        value = ort.OrtValue.ortvalue_from_shape_and_type([2], Element.STRING)
        self.assertEqual(value.numpy().tolist(), ["", ""])
        self.assertEqual(ort.OrtValue.ortvalue_from_shape_and_type([], np.float32).numpy().shape, ())

    def test_onnx_types(self):
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([0x3F80], np.uint16), Element.BFLOAT16)
        self.assertEqual((value.data_type(), value.numpy().view(np.uint16).tolist()), ("tensor(bfloat16)", [0x3F80]))
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([0x38, 0x40], np.uint8), Element.FLOAT8E4M3FN)
        self.assertEqual((value.data_type(), value.numpy().view(np.uint8).tolist()), ("tensor(float8e4m3fn)", [0x38, 0x40]))
        with self.assertRaisesRegex(ort.InvalidArgument, "do not carry elements of ONNX's type BFLOAT16"):
            ort.OrtValue.ortvalue_from_numpy_with_onnx_type(floats(1), Element.BFLOAT16)

    def test_packed_types_are_bytes(self):
        value = ort.OrtValue.ortvalue_from_bytes(bytes([0x21, 0x03]), [3], Element.INT4)
        self.assertEqual((value.data_type(), value.shape(), value.numpy().tolist()), ("tensor(int4)", [3], [0x21, 0x03]))
        for data in (b"\0", b"\0\0\0"):
            with self.assertRaisesRegex(ort.InvalidArgument, "the bytes are not as many as the tensor's"):
                ort.OrtValue.ortvalue_from_bytes(data, [3], Element.INT4)

    def test_sizes_are_checked(self):
        for shape, said in (([-1], "dimension -1 is negative"), ([2, -3], "dimension -3 is negative")):
            with self.assertRaisesRegex(ort.InvalidArgument, said):
                ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        with self.assertRaisesRegex(ort.InvalidArgument, r"4611686018427387904 \* 8 overflows"):
            ort.OrtValue.ortvalue_from_shape_and_type([2**62, 8], np.float32)
        with self.assertRaisesRegex(ort.InvalidArgument, "99 is none of ONNX's element types"):
            ort.OrtValue.ortvalue_from_shape_and_type([1], 99)
        with self.assertRaisesRegex(ort.InvalidArgument, "no element type for NumPy's datetime64"):
            ort.OrtValue.ortvalue_from_numpy(np.ones(2, "M8[s]"))

    def test_update_in_place(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.zeros((2, 2), np.float32))
        value.update_inplace(np.arange(4, dtype=np.float32).reshape(2, 2).T)
        self.assertEqual(value.numpy().tolist(), [[0, 2], [1, 3]])
        for wrong in (np.zeros((2, 2)), np.zeros(4, np.float32), np.array([["a", "b"]] * 2)):
            with self.assertRaisesRegex(ort.InvalidArgument, "cannot replace the content of a tensor"):
                value.update_inplace(wrong)

    def test_sequences_and_maps(self):
        sequence = ort.OrtValue.ortvalue_from_sequence([floats(1), ort.OrtValue.ortvalue_from_numpy(floats(2, 3))])
        self.assertEqual((sequence.data_type(), sequence.is_tensor_sequence()), ("seq(tensor(float))", True))
        self.assertEqual([part.tolist() for part in sequence.to_python()], [[1], [2, 3]])
        session = ort.InferenceSession(model("sequence_length"))
        self.assertEqual(session.run(None, {"s": sequence})[0], 2)
        mapping = ort.OrtValue.ortvalue_from_map({"dog": 1.5}, str, np.float32)
        self.assertEqual((mapping.data_type(), mapping.is_map(), mapping.to_python()),
                         ("map(string,tensor(float))", True, {"dog": 1.5}))
        with self.assertRaisesRegex(ort.InvalidArgument, "only tensors are arrays"):
            mapping.numpy()

    def test_sequences_keep_what_they_hold(self):
        sequence = ort.OrtValue.ortvalue_from_sequence([np.full(10000, i, np.float32) for i in range(4)])
        gc.collect()
        np.empty(10000, np.float32)[:] = -1
        self.assertEqual([part.max() for part in sequence.to_python()], [0, 1, 2, 3])
        parts = sequence.to_python()
        sequence.close()
        gc.collect()
        np.empty(10000, np.float32)[:] = -1
        self.assertEqual([part.max() for part in parts], [0, 1, 2, 3])

    def test_runs_with_values(self):
        session = ort.InferenceSession(model("add"))
        a, b = (ort.OrtValue.ortvalue_from_numpy(floats(*numbers)) for numbers in ((1, 2), (10, 20)))
        self.assertEqual(session.run(["sum"], {"a": a, "b": floats(10, 20)})[0].tolist(), [11, 22])
        total, scaled = session.run_with_ort_values(None, {"a": a, "b": b})
        self.assertEqual((total.numpy().tolist(), scaled.numpy().tolist()), ([11, 22], [22, 44]))
        scaled, = session.run_with_ort_values(["scaled"], {"a": a, "b": b})
        self.assertEqual(scaled.numpy().tolist(), [22, 44])
        for names, feed, said in ((["absent"], {"a": a, "b": b}, "cannot bind output 'absent'"),
                                  (None, {"a": a, "z": b}, "cannot bind input 'z'")):
            with self.assertRaisesRegex(ort.InvalidArgument, said):
                session.run_with_ort_values(names, feed)

    def test_closed_values_are_refused(self):
        with ort.OrtValue.ortvalue_from_numpy(floats(1)) as value:
            pass
        value.close()
        session = ort.InferenceSession(model("add"))
        for call in (value.numpy, value.shape, value.data_ptr, value.is_tensor, value.data_type, value.to_python,
                     value.device_name, lambda: value.update_inplace(floats(1)),
                     lambda: session.run(None, {"a": value, "b": value})):
            with self.assertRaisesRegex(ValueError, "the OrtValue is closed"):
                call()


if __name__ == "__main__":
    main()
