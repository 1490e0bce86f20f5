// Values: what runs read and make. Tensors are in tensor.go, sequences and maps in containers.go.

package ortolan

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"ortolan.org/ortolan/internal/native"
)

// Value is a tensor, a sequence, a map, or an optional. Its memory belongs to the library.
type Value struct {
	object
	facts atomic.Pointer[tensorFacts]
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
	runtime.SetFinalizer(v, nil)
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
	data        unsafe.Pointer // memory of the library, maybe of a device; nil for strings
	bytes       int
	shape       []int64
}

// tensor reads the facts of a tensor that the caller uses.
func (v *Value) tensor() (*tensorFacts, error) {
	if facts := v.facts.Load(); facts != nil {
		return facts, nil
	}
	const head = 4
	numbers := make([]int64, head+4)
	for {
		var status uintptr
		needed := native.Tensor_facts(v.address, numbers, &status)
		if err := failure(status); err != nil {
			return nil, err
		}
		if needed <= len(numbers) {
			numbers = numbers[:needed]
			break
		}
		numbers = make([]int64, needed)
	}
	facts := &tensorFacts{
		elementType: ElementType(numbers[0]),
		data:        *(*unsafe.Pointer)(unsafe.Pointer(&numbers[1])),
		bytes:       int(numbers[2]),
		shape:       numbers[head:],
	}
	v.facts.Store(facts)
	return facts, nil
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
	bytes := make([]byte, facts.bytes)
	var status uintptr
	native.Read_tensor(v.address, bytes, &status)
	return bytes, failure(status)
}

// SetBytes writes the elements of a tensor as they lie in memory: all of them, of any type but strings.
func (v *Value) SetBytes(bytes []byte) error {
	return v.use(func(address uintptr, status *uintptr) { native.Write_tensor(address, bytes, status) })
}
