// Values: what runs read and make. Tensors are in tensor.go, sequences and maps in containers.go.

package ortolan

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"ortolan.org/ortolan/internal/native"
)

// Value is a tensor, a sequence, a map, or an optional. Its memory belongs to the library.
type Value struct {
	object
	known atomic.Bool // whether the facts are there
	facts tensorFacts
	mutex sync.Mutex // guards the writing of the facts
}

var valueClass = &class{"value", native.Release_value}

// newValue is the owner of what a call made, or the call's error.
func newValue(address uintptr, err error) (*Value, error) {
	if err != nil {
		return nil, err
	}
	value := new(Value)
	value.init(valueClass, address)
	runtime.SetFinalizer(value, (*Value).Close)
	return value, nil
}

// Close gives the value back; runs that use it go on. It always returns nil.
func (v *Value) Close() error {
	if v.address != 0 {
		runtime.SetFinalizer(v, nil)
	}
	v.close()
	return nil
}

// Kind tells tensors, sequences, maps and optionals apart.
func (v *Value) Kind() (kind Kind, err error) {
	err = v.use(func(address uintptr, status *uintptr) { kind = Kind(native.Value_kind(address, status)) })
	return kind, err
}

// Type describes the value.
func (v *Value) Type() (*TypeInfo, error) {
	if err := v.acquire(); err != nil {
		return nil, err
	}
	defer v.done()
	var status uintptr
	return takeType(native.Value_type(v.address, &status), status)
}

// HasValue is false for an optional that holds nothing.
func (v *Value) HasValue() (present bool, err error) {
	err = v.use(func(address uintptr, status *uintptr) { present = native.Value_present(address, status) != 0 })
	return present, err
}

// tensorFacts is what does not change about a tensor.
type tensorFacts struct {
	elementType ElementType
	onCPU       bool
	data        unsafe.Pointer // memory of the library, of a device where it is not onCPU; nil for strings
	size        int            // in bytes; 0 for strings
	shape       []int64
	fewSizes    [4]int64 // where the shape is when it is short
}

func (f *tensorFacts) set(elementType ElementType, data unsafe.Pointer, size int, onCPU bool, shape []int64) {
	f.elementType, f.data, f.size, f.onCPU = elementType, data, size, onCPU
	f.shape = append(f.fewSizes[:0], shape...)
}

// tensor reads the facts of a tensor that the caller uses.
func (v *Value) tensor() (*tensorFacts, error) {
	if v.known.Load() {
		return &v.facts, nil
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known.Load() {
		return &v.facts, nil
	}
	numbers, err := readFacts(v.address)
	if err != nil {
		return nil, err
	}
	var status uintptr
	memory := native.Tensor_memory(v.address, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	data := *(*unsafe.Pointer)(unsafe.Pointer(&numbers[1]))
	onCPU := MemoryDevice(native.Memory_device_type(memory)) == MemoryOfCPU
	v.facts.set(ElementType(numbers[0]), data, int(numbers[2]), onCPU, numbers[factsHead:])
	v.known.Store(true)
	return &v.facts, nil
}

// factsHead is how many facts stand before the dimensions.
const factsHead = 4

// readFacts reads element type, address, size, rank and dimensions of a tensor.
func readFacts(address uintptr) ([]int64, error) {
	numbers := make([]int64, factsHead+4)
	for {
		var status uintptr
		needed := native.Tensor_facts(address, numbers, &status)
		if err := failure(status); err != nil {
			return nil, err
		}
		if needed <= len(numbers) {
			return numbers[:needed], nil
		}
		numbers = make([]int64, needed)
	}
}

// ElementType is the type of a tensor's elements.
func (v *Value) ElementType() (ElementType, error) {
	if err := v.acquire(); err != nil {
		return UndefinedType, err
	}
	defer v.done()
	facts, err := v.tensor()
	if err != nil {
		return UndefinedType, err
	}
	return facts.elementType, nil
}

// Shape is the shape of a tensor; empty for scalars.
func (v *Value) Shape() ([]int64, error) {
	if err := v.acquire(); err != nil {
		return nil, err
	}
	defer v.done()
	facts, err := v.tensor()
	if err != nil {
		return nil, err
	}
	return append([]int64{}, facts.shape...), nil
}

// Bytes copies the elements of a tensor as they lie in memory: of any type but strings.
func (v *Value) Bytes() ([]byte, error) {
	if err := v.acquire(); err != nil {
		return nil, err
	}
	defer v.done()
	facts, err := v.tensor()
	if err != nil {
		return nil, err
	}
	if facts.elementType == StringType {
		return nil, refuse("the tensor is of strings, which do not lie in memory as bytes")
	}
	bytes := make([]byte, facts.size)
	return bytes, facts.read(bytes)
}

// SetBytes writes the elements of a tensor as they lie in memory: all of them, of any type but strings.
func (v *Value) SetBytes(bytes []byte) error {
	if err := v.acquire(); err != nil {
		return err
	}
	defer v.done()
	facts, err := v.tensor()
	if err != nil {
		return err
	}
	if facts.elementType == StringType {
		return refuse("the tensor is of strings, which do not lie in memory as bytes")
	}
	elements, err := facts.elements(len(bytes))
	copy(elements, bytes)
	return err
}
