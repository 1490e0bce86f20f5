// Memory: where tensors lie and outputs are made.

package ortolan

import "ortolan.org/ortolan/internal/native"

// MemoryDevice is a kind of device that memory belongs to.
type MemoryDevice int32

// The kinds of devices with memory.
const (
	MemoryOfCPU  MemoryDevice = 0
	MemoryOfGPU  MemoryDevice = 1
	MemoryOfFPGA MemoryDevice = 2
	MemoryOfNPU  MemoryDevice = 3
)

// Memory describes memory of a kind: ordinary memory, or that of a device.
type Memory struct {
	Name       string // "Cpu", "Cuda", ...
	DeviceType MemoryDevice
	DeviceID   int
	// with calls the library with the description, while it cannot go away.
	with func(call func(memory uintptr, status *uintptr)) error
}

// memoryFrom describes the memory that the library describes to `with`; nil where there is no description.
func memoryFrom(with func(call func(memory uintptr, status *uintptr)) error) (*Memory, error) {
	var memory *Memory
	err := with(func(address uintptr, status *uintptr) {
		if address == 0 {
			return
		}
		memory = &Memory{with: with, DeviceType: MemoryDevice(native.Memory_device_type(address))}
		memory.Name = native.StringOf(native.Memory_name(address, status))
		if *status == 0 {
			memory.DeviceID = int(native.Memory_device_id(address, status))
		}
	})
	return memory, err
}

// NewMemory describes memory by the name of its kind, "Cpu" for ordinary memory, and the number of its device.
func NewMemory(name string, deviceID int) (*Memory, error) {
	text, err := textFor(name)
	if err != nil {
		return nil, err
	}
	const deviceAllocator, defaultType = 0, 0
	return memoryFrom(func(call func(memory uintptr, status *uintptr)) error {
		var status uintptr
		memory := native.Create_memory(text, deviceAllocator, narrow(deviceID), defaultType, &status)
		defer native.Release_memory(memory)
		if status == 0 {
			call(memory, &status)
		}
		return failure(status)
	})
}

// Memory is the device's own memory; with sharedWithHost, memory that the CPU reaches too. It is nil where the device
// uses ordinary memory.
func (d *Device) Memory(sharedWithHost bool) (*Memory, error) {
	return memoryFrom(func(call func(memory uintptr, status *uintptr)) error {
		return withDevices([]*Device{d}, func(environment uintptr, devices []uintptr, status *uintptr) {
			call(native.Device_memory(devices[0], flag(sharedWithHost)), status)
		})
	})
}

// borrowedMemory is memory that an object describes.
func (o *object) borrowedMemory(describe func(address uintptr, status *uintptr) uintptr) (*Memory, error) {
	return memoryFrom(func(call func(memory uintptr, status *uintptr)) error {
		return o.use(func(address uintptr, status *uintptr) {
			if memory := describe(address, status); *status == 0 {
				call(memory, status)
			}
		})
	})
}

// InputMemory is where the session wants input index.
func (s *Session) InputMemory(index int) (*Memory, error) {
	return s.borrowedMemory(func(address uintptr, status *uintptr) uintptr {
		return native.Input_memory(address, index, status)
	})
}

// OutputMemory is where the session makes output index.
func (s *Session) OutputMemory(index int) (*Memory, error) {
	return s.borrowedMemory(func(address uintptr, status *uintptr) uintptr {
		return native.Output_memory(address, index, status)
	})
}

// Memory is where the elements of a tensor are.
func (v *Value) Memory() (*Memory, error) { return v.borrowedMemory(native.Tensor_memory) }

// NewTensorOnDevice makes a tensor in the memory of a provider's device; its content is undefined. CopyTensor fills it.
func (e *Environment) NewTensorOnDevice(memory *Memory, elementType ElementType, shape ...int64) (*Value, error) {
	if memory == nil {
		return nil, refuse("there must be a memory")
	}
	if err := e.acquire(); err != nil {
		return nil, err
	}
	defer e.done()
	var address uintptr
	err := memory.with(func(memory uintptr, status *uintptr) {
		address = native.Tensor_on_device(e.address, memory, shape, int32(elementType), status)
	})
	return newValue(address, err)
}

// CopyTensor copies the elements between tensors of one type and shape, on whatever devices, and waits for the end.
func (e *Environment) CopyTensor(from, to *Value) error {
	if from == nil || to == nil {
		return refuse("there must be two tensors")
	}
	if err := acquireAll(&from.object, &to.object); err != nil {
		return err
	}
	defer doneAll(&from.object, &to.object)
	return e.use(func(address uintptr, status *uintptr) {
		native.Copy_tensor(address, from.address, to.address, status)
	})
}
