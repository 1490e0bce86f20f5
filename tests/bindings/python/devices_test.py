"""Devices, descriptions of memory, arenas, streams, and copies between devices."""
import unittest

import numpy as np
import ortolan as ort
from ortolan.capi import onnxruntime_pybind11_state as state
from support import EXAMPLE_PROVIDER, floats, main, model

PROVIDER = "ExampleKernelExecutionProvider"
GPU_MEMORY = ("mine", ort.OrtMemoryInfoDeviceType.GPU, ort.OrtDeviceVendorId.NVIDIA, 1, ort.OrtDeviceMemoryType.HOST_ACCESSIBLE,
              0, ort.OrtAllocatorType.ORT_DEVICE_ALLOCATOR)


class Devices(unittest.TestCase):
    def test_names_tell_kinds_and_vendors(self):
        for name, kind, vendor in (("cpu", 0, 0), ("cuda", 1, 0x10DE), ("gpu", 1, 0), ("npu", 3, 0), ("dml", 4, 0x1414)):
            device = ort.OrtDevice.make(name, 2)
            self.assertEqual((device.device_type(), device.device_id(), device.device_vendor_id(), device.device_mem_type()),
                             (kind, 2, vendor, 0))
        self.assertEqual(ort.OrtDevice.make("gpu", 0, ort.OrtDeviceVendorId.AMD).device_vendor_id(), 0x1002)

    def test_wrong_devices(self):
        with self.assertRaisesRegex(TypeError, "a device has a name, not a 'int'"):
            ort.OrtDevice.make(0, 0)
        with self.assertRaisesRegex(TypeError, "device_id must be an int, not 'str'"):
            ort.OrtDevice.make("cpu", "0")
        with self.assertRaisesRegex(ort.InvalidArgument, "no registered provider has a device 'npu' with the number 0"):
            ort.OrtValue.ortvalue_from_shape_and_type([1], np.float32, "npu", 0, 0x10DE)

    def test_numbers_are_those_of_the_c_interface(self):
        self.assertEqual([int(kind) for kind in (*ort.OrtAllocatorType, *ort.OrtMemType, *ort.OrtDeviceMemoryType)],
                         [-1, 0, 1, -2, -1, 0, 0, 5])
        self.assertEqual(ort.OrtMemType.CPU, ort.OrtMemType.CPU_OUTPUT)
        self.assertEqual({int(kind): kind.name for kind in ort.OrtMemoryInfoDeviceType},
                         {0: "CPU", 1: "GPU", 2: "FPGA", 3: "NPU"})


class Memory(unittest.TestCase):
    def test_memory_by_name(self):
        memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        self.assertEqual((memory.name, memory.device_id, memory.device_type, memory.allocator_type, memory.mem_type,
                          memory.device_mem_type, memory.device_vendor_id), ("Cpu", 0, 0, 1, 0, 0, 0))
        with self.assertRaisesRegex(ort.OrtError, "Elsewhere"):
            ort.OrtMemoryInfo("Elsewhere", 1, 0, 0)
        with self.assertRaisesRegex(ValueError, "7 is not a valid OrtAllocatorType"):
            ort.OrtMemoryInfo("Cpu", 7, 0, 0)

    def test_memory_by_device(self):
        memory = ort.OrtMemoryInfo.create_v2(*GPU_MEMORY)
        self.assertEqual((memory.name, memory.device_id, memory.device_type, memory.allocator_type, memory.mem_type,
                          memory.device_mem_type, memory.device_vendor_id), ("mine", 1, 1, 0, -1, 5, 0x10DE))
        self.assertIn("mine", repr(memory))
        with self.assertRaisesRegex(ValueError, "9 is not a valid OrtMemoryInfoDeviceType"):
            ort.OrtMemoryInfo.create_v2("x", 9, 0, 0, 0, 0, 0)

    def test_memory_of_a_session(self):
        session = ort.InferenceSession(model("add"))
        inputs, outputs = session.get_input_memory_infos(), session.get_output_memory_infos()
        session.close()
        self.assertEqual([(info.name, info.device_id, info.device_mem_type) for info in inputs + outputs], [("Cpu", 0, 0)] * 4)
        with self.assertRaisesRegex(ValueError, "the InferenceSession is closed"):
            session.get_input_memory_infos()
        with self.assertRaisesRegex(ValueError, "the InferenceSession is closed"):
            session.get_input_epdevices()

    def test_devices_of_inputs(self):
        devices = ort.InferenceSession(model("add")).get_input_epdevices()
        self.assertEqual([device.ep_name for device in devices], ["CPUExecutionProvider"] * 2)


class Arenas(unittest.TestCase):
    def test_settings(self):
        arena = ort.OrtArenaCfg(8, 1, 16, -1)
        self.assertEqual((arena.max_mem, arena.arena_extend_strategy, arena.initial_chunk_size_bytes,
                          arena.max_dead_bytes_per_chunk, arena.initial_growth_chunk_size_bytes,
                          arena.max_power_of_two_extend_bytes), (8, state.ArenaExtendStrategy.kSameAsRequested, 16, -1, -1, -1))
        arena = ort.OrtArenaCfg({"max_power_of_two_extend_bytes": 64, "max_mem": 5})
        self.assertEqual((arena.max_power_of_two_extend_bytes, arena.max_mem, arena.initial_chunk_size_bytes), (64, 5, -1))

    def test_wrong_settings(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "an arena has no setting 'size'; there are max_mem, "):
            ort.OrtArenaCfg({"size": 1})
        with self.assertRaisesRegex(TypeError, "max_mem must be an int, not 'str'"):
            ort.OrtArenaCfg({"max_mem": "x"})
        with self.assertRaisesRegex(TypeError, "takes four numbers or a dict"):
            ort.OrtArenaCfg(1)

    def test_shared_allocators(self):
        memory = ort.OrtMemoryInfo("Cpu", 1, 0, 0)
        ort.create_and_register_allocator(memory, ort.OrtArenaCfg({"max_mem": 1 << 26, "initial_chunk_size_bytes": 4096}))
        options = ort.SessionOptions()
        options.add_session_config_entry("session.use_env_allocators", "1")
        session = ort.InferenceSession(model("add"), options)
        self.assertEqual(session.run(["sum"], {"a": floats(1), "b": floats(2)})[0].tolist(), [3])
        with self.assertRaisesRegex(ort.InvalidArgument, "memory 'Cpu' on device 0 is registered already"):
            ort.create_and_register_allocator_v2("CPUExecutionProvider", memory, {}, None)

    def test_wrong_allocators(self):
        with self.assertRaisesRegex(ort.OrtError, "NoSuchProvider"):
            ort.create_and_register_allocator_v2("NoSuchProvider", ort.OrtMemoryInfo("Cpu", 0, 0, 0), {}, None)
        with self.assertRaisesRegex(ort.OrtError, "mine"):
            ort.create_and_register_allocator(ort.OrtMemoryInfo.create_v2(*GPU_MEMORY), ort.OrtArenaCfg({}))
        with self.assertRaisesRegex(TypeError, "an OrtMemoryInfo is needed, not 'str'"):
            ort.create_and_register_allocator("Cpu", None)
        with self.assertRaisesRegex(TypeError, "an OrtArenaCfg is needed, not 'dict'"):
            ort.create_and_register_allocator(ort.OrtMemoryInfo("Cpu", 0, 0, 0), {})


class Copies(unittest.TestCase):
    def values(self, *numbers):
        return ort.OrtValue.ortvalue_from_numpy(floats(*numbers))

    def test_on_the_cpu(self):
        targets = [self.values(0, 0), self.values(0)]
        ort.copy_tensors([self.values(1, 2), self.values(3)], targets)
        self.assertEqual([target.numpy().tolist() for target in targets], [[1, 2], [3]])
        ort.copy_tensors([], [])

    def test_wrong_copies(self):
        one = self.values(1)
        for sources, targets, error, said in (
                ([one], [], ort.InvalidArgument, "as many tensors to copy to as to copy from"),
                ([one], [self.values(1, 2)], ort.InvalidArgument, r"float\[1\] into one of float\[2\]"), ([5], [one], TypeError, "not 'int'"),
                ([one], [ort.OrtValue.ortvalue_from_numpy(np.frombuffer(bytes(4), np.float32))], ort.InvalidArgument,
                 "not writeable")):
            with self.assertRaisesRegex(error, said):
                ort.copy_tensors(sources, targets)
        with self.assertRaisesRegex(TypeError, "create_sync_stream, not a 'int'"):
            ort.copy_tensors([one], [self.values(0)], 5)

    def test_updates_from_values(self):
        target = self.values(0, 0)
        target.update_inplace(self.values(4, 5))
        self.assertEqual(target.numpy().tolist(), [4, 5])
        with self.assertRaisesRegex(ort.InvalidArgument, r"float\[1\] into one of float\[2\]"):
            target.update_inplace(self.values(1))


class PluginDevices(unittest.TestCase):
    def setUp(self):
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)
        self.addCleanup(ort.unregister_execution_provider_library, "example")
        self.device = next(device for device in ort.get_ep_devices() if device.ep_name == PROVIDER)
        self.cpu = next(device for device in ort.get_ep_devices() if device.ep_name == "CPUExecutionProvider")

    def test_memory(self):
        self.assertIsNone(self.cpu.memory_info(ort.OrtDeviceMemoryType.DEFAULT))
        memory = self.device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2], np.float32, memory_info=memory)
        self.assertEqual(value.device_name(), memory.name.lower())
        with self.assertRaisesRegex(ValueError, "3 is not a valid OrtDeviceMemoryType"):
            self.device.memory_info(3)

    def test_copies_through_a_device(self):
        memory = self.device.memory_info(0)
        there = ort.OrtValue.ortvalue_from_shape_and_type([2], np.float32, memory_info=memory)
        back = ort.OrtValue.ortvalue_from_numpy(floats(0, 0))
        ort.copy_tensors([ort.OrtValue.ortvalue_from_numpy(floats(6, 7))], [there])
        ort.copy_tensors([there], [back])
        self.assertEqual(back.numpy().tolist(), [6, 7])
        with self.assertRaisesRegex(BufferError, "DLPack has no name for the memory"):
            there.__dlpack__()

    def test_values_of_a_session(self):
        session = ort.InferenceSession(model("add"), providers=[PROVIDER])
        number = self.device.memory_info(0).device_id
        value = session.create_ortvalue_from_shape_and_type([2], np.float32, "examplekernel", number)
        value.update_inplace(floats(8, 9))
        self.assertEqual(session.run(["sum"], {"a": value, "b": value})[0].tolist(), [16, 18])
        self.assertEqual(session.create_ortvalue_from_shape_and_type([2], 1, "cpu").numpy().tolist(), [0, 0])
        alone = ort.InferenceSession(model("add"))
        with self.assertRaisesRegex(ort.OrtError, "memory|allocator"):
            alone.create_ortvalue_from_shape_and_type([2], np.float32, "examplekernel", number)
        with self.assertRaisesRegex(ort.InvalidArgument, "no registered provider has a device 'cuda'"):
            alone.create_ortvalue_from_shape_and_type([2], np.float32, "cuda")

    def test_streams(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "CPUExecutionProvider has no memory but the CPU's"):
            self.cpu.create_sync_stream()
        stream = self.device.create_sync_stream()
        self.assertNotEqual(stream.get_handle(), 0)
        there = ort.OrtValue.ortvalue_from_shape_and_type([2], np.float32, memory_info=self.device.memory_info(0))
        back, source = (ort.OrtValue.ortvalue_from_numpy(floats(*numbers)) for numbers in ((0, 0), (6, 7)))
        ort.copy_tensors([source], [there], stream)
        ort.copy_tensors([there], [back], stream)
        ort.copy_tensors([there], [back])
        self.assertEqual(back.numpy().tolist(), [6, 7])

    def test_devices_that_are_gone(self):
        ort.unregister_execution_provider_library("example")
        for use in (lambda: self.device.memory_info(0), self.device.create_sync_stream):
            with self.assertRaisesRegex(ort.InvalidArgument, "their library must be registered still"):
                use()
        ort.register_execution_provider_library("example", EXAMPLE_PROVIDER)


if __name__ == "__main__":
    main()
