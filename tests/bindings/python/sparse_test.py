"""Sparse tensors: made over arrays, read, and kept in values."""
import gc
import unittest

import numpy as np
import ortolan as ort
from support import floats, main

CPU = ort.OrtDevice.make("cpu", 0)


def coo(values=(1, 2, 3), indices=(0, 4, 8), shape=(3, 3)):
    return ort.SparseTensor.sparse_coo_from_numpy(shape, np.array(values, np.float32), np.array(indices, np.int64), CPU)


class Coo(unittest.TestCase):
    def test_places_among_all_elements(self):
        tensor = coo()
        self.assertEqual((tensor.format(), tensor.dense_shape(), tensor.data_type(), tensor.device_name()),
                         (ort.OrtSparseFormat.ORT_SPARSE_COO, [3, 3], "sparse_tensor(float)", "cpu"))
        self.assertEqual((tensor.values().tolist(), tensor.as_coo_view().indices().tolist()), ([1, 2, 3], [0, 4, 8]))
        self.assertEqual((tensor.values().dtype, tensor.as_coo_view().indices().dtype), (np.float32, np.int64))

    def test_places_as_coordinates(self):
        for indices in ([[0, 0], [1, 1], [2, 2]], [0, 0, 1, 1, 2, 2]):
            self.assertEqual(coo(indices=indices).as_coo_view().indices().tolist(), [[0, 0], [1, 1], [2, 2]])

    def test_arrays_are_shared_and_kept(self):
        values = floats(1, 2, 3)
        tensor = ort.SparseTensor.sparse_coo_from_numpy([3, 3], values, np.array([0, 4, 8]), CPU)
        values[0] = 9
        view = tensor.values()
        del values, tensor
        gc.collect()
        self.assertEqual(view.tolist(), [9, 2, 3])
        self.assertFalse(view.flags.writeable)

    def test_other_elements(self):
        for dtype in (np.int8, np.float64, np.float16, np.bool_, np.uint64):
            tensor = ort.SparseTensor.sparse_coo_from_numpy([4], np.array([1, 0], dtype), np.array([1, 2]), CPU)
            self.assertEqual((tensor.values().dtype, tensor.values().tolist()), (dtype, [1, 0]))
        texts = ort.SparseTensor.sparse_coo_from_numpy([4], np.array(["a", "ö"]), np.array([1, 2]), CPU)
        self.assertEqual((texts.data_type(), texts.values().tolist(), texts.as_coo_view().indices().tolist()),
                         ("sparse_tensor(string)", ["a", "ö"], [1, 2]))

    def test_nothing(self):
        self.assertEqual(coo((), ()).values().shape, (0,))

    def test_wrong_parts(self):
        for values, indices, said in (((1, 2, 3), (0, 4), "3"), ((1, 2, 3), (0, 4, 9), "9"),
                                      (((1, 2), (3, 4)), (0, 1, 2, 3), "values must have 1 dimension, not 2")):
            with self.assertRaisesRegex(ort.InvalidArgument, said):
                coo(values, indices)
        with self.assertRaisesRegex(TypeError, "values must be an array, not 'list'"):
            ort.SparseTensor.sparse_coo_from_numpy([3], [1.0], np.array([0]), CPU)
        with self.assertRaisesRegex(TypeError, "an OrtDevice is needed, not 'str'"):
            ort.SparseTensor.sparse_coo_from_numpy([3], floats(1), np.array([0]), "cpu")
        with self.assertRaisesRegex(ort.InvalidArgument, "no registered provider has a device 'cuda'"):
            ort.SparseTensor.sparse_coo_from_numpy([3], floats(1), np.array([0]), ort.OrtDevice.make("cuda", 0))
        with self.assertRaisesRegex(ValueError, "made by sparse_coo_from_numpy, not of 'int'"):
            ort.SparseTensor(5)


class OtherFormats(unittest.TestCase):
    def test_csr(self):
        tensor = ort.SparseTensor.sparse_csr_from_numpy([3, 3], floats(1, 2, 3), np.array([0, 1, 2]), np.array([0, 1, 2, 3]), CPU)
        view = tensor.as_csrc_view()
        self.assertEqual((tensor.format(), view.inner().tolist(), view.outer().tolist()),
                         (ort.OrtSparseFormat.ORT_SPARSE_CSRC, [0, 1, 2], [0, 1, 2, 3]))
        with self.assertRaisesRegex(ort.InvalidArgument, "needs 3 inner and 4 outer indices, not 3 and 3"):
            ort.SparseTensor.sparse_csr_from_numpy([3, 3], floats(1, 2, 3), np.array([0, 1, 2]), np.array([0, 1, 2]), CPU)
        with self.assertRaisesRegex(ort.InvalidArgument, "texts are taken by sparse_coo_from_numpy alone"):
            ort.SparseTensor.sparse_csr_from_numpy([1, 1], np.array(["a"]), np.array([0]), np.array([0, 1]), CPU)

    def test_views_of_other_formats(self):
        for view in (coo().as_csrc_view, coo().as_blocksparse_view):
            with self.assertRaisesRegex(ort.InvalidArgument, "is in COO format, not in "):
                view()
        with self.assertRaisesRegex(ort.InvalidArgument, "sparse tensors stay with the CPU"):
            coo().to_cuda(ort.OrtDevice.make("cuda", 0))

    def test_blocks(self):
        values, places = np.ones((1, 2, 2), np.float32), np.array([[0], [1]], np.int32)
        tensor = ort.SparseTensor._blocksparse_from_numpy([2, 4], values, places, CPU)
        self.assertEqual((tensor.format(), tensor.values().shape, tensor.as_blocksparse_view().indices().tolist()),
                         (ort.OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE, (1, 2, 2), [[0], [1]]))


class Values(unittest.TestCase):
    def test_values_hold_sparse_tensors(self):
        tensor = coo()
        value = ort.OrtValue.ort_value_from_sparse_tensor(tensor)
        self.assertEqual((value.is_sparse_tensor(), value.is_tensor(), value.data_type(), value.shape(), value.element_type(),
                          value.device_name()), (True, False, "sparse_tensor(float)", [3, 3], 1, "cpu"))
        self.assertEqual(value.as_sparse_tensor().values().tolist(), tensor.values().tolist())
        self.assertEqual(value.to_python().as_coo_view().indices().tolist(), [0, 4, 8])
        for call, said in ((value.numpy, "only tensors are arrays, not a sparse_tensor"),
                           (value.data_ptr, "the value is a sparse tensor, not a tensor")):
            with self.assertRaisesRegex(ort.InvalidArgument, said):
                call()

    def test_wrong_kinds(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "the value is no sparse tensor but a tensor\\(float\\)"):
            ort.OrtValue.ortvalue_from_numpy(floats(1)).as_sparse_tensor()
        with self.assertRaisesRegex(TypeError, "a SparseTensor is needed, not 'int'"):
            ort.OrtValue.ort_value_from_sparse_tensor(5)


if __name__ == "__main__":
    main()
