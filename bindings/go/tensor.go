// Tensors of Go's types.

package ortolan

import (
	"sync"
	"unsafe"

	"ortolan.org/ortolan/internal/native"
)

// Element is a type that tensors have in Go. Strings are UTF-8 and may hold any bytes.
type Element interface {
	float32 | float64 | Float16 | BFloat16 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool |
		string
}

// TypeOf is the element type that tensors of T have.
func TypeOf[T Element]() ElementType {
	var element T
	switch any(element).(type) {
	case float32:
		return Float32Type
	case float64:
		return Float64Type
	case int8:
		return Int8Type
	case int16:
		return Int16Type
	case int32:
		return Int32Type
	case int64:
		return Int64Type
	case uint8:
		return Uint8Type
	case uint16:
		return Uint16Type
	case uint32:
		return Uint32Type
	case uint64:
		return Uint64Type
	case bool:
		return BoolType
	case Float16:
		return Float16Type
	case BFloat16:
		return BFloat16Type
	}
	return StringType
}

// bytesOf is the memory of a slice; not for strings.
func bytesOf[T Element](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
}

// NewTensor makes a tensor with a copy of the data, which must be as many elements as the shape says. Without a shape
// the tensor is a scalar, of one element.
func NewTensor[T Element](data []T, shape ...int64) (*Value, error) {
	if texts, ok := any(data).([]string); ok {
		return newStrings(texts, shape)
	}
	return NewRawTensor(TypeOf[T](), bytesOf(data), shape...)
}

// NewRawTensor makes a tensor of any type but strings with a copy of the elements as they lie in memory. Elements of
// less than a byte share bytes, the first one in the low bits.
func NewRawTensor(elementType ElementType, bytes []byte, shape ...int64) (*Value, error) {
	if len(shape) > native.MostDimensions {
		var status uintptr
		address := native.Tensor_copy(bytes, append([]int64(nil), shape...), int32(elementType), &status)
		return newValue(address, failure(status))
	}
	frame := shapeFrames.Get().(*native.Frame)
	copy(frame.Shape[:], shape)
	var elements unsafe.Pointer
	if len(bytes) > 0 {
		elements = unsafe.Pointer(&bytes[0])
	}
	address := native.Copy_into_tensor(elements, len(bytes), int32(elementType), len(shape), frame.Address)
	err := failure(frame.TakeStatus())
	shapeFrames.Put(frame)
	return newValue(address, err)
}

var shapeFrames = sync.Pool{New: func() any { return native.NewFrame(0, 0) }}

// NewZeros makes a tensor of zeros, or of empty strings. WithData or Write fills it without a further copy.
func NewZeros(elementType ElementType, shape ...int64) (*Value, error) {
	var status uintptr
	address := native.Tensor_of_zeros(shape, int32(elementType), &status)
	return newValue(address, failure(status))
}

// typed reads the facts of a tensor that must be of T.
func typed[T Element](v *Value) (*tensorFacts, error) {
	facts, err := v.tensor()
	if err != nil {
		return nil, err
	}
	if wanted := TypeOf[T](); facts.elementType != wanted {
		return nil, refuse("the tensor is of type %s, not of %s", facts.elementType, wanted)
	}
	return facts, nil
}

// Data copies the elements of a tensor, which must be of type T, row by row.
func Data[T Element](v *Value) ([]T, error) {
	if err := v.acquire(); err != nil {
		return nil, err
	}
	defer v.done()
	facts, err := typed[T](v)
	if err != nil {
		return nil, err
	}
	if facts.elementType == StringType {
		texts, err := readStrings(v.address, facts.shape)
		return any(texts).([]T), err
	}
	var element T
	data := make([]T, facts.size/int(unsafe.Sizeof(element)))
	return data, facts.read(bytesOf(data))
}

// Read copies the elements of a tensor, which must be of type T, to data, which must have as many.
func Read[T Element](v *Value, data []T) error {
	if err := v.acquire(); err != nil {
		return err
	}
	defer v.done()
	facts, err := typed[T](v)
	if err != nil {
		return err
	}
	if facts.elementType != StringType {
		return facts.read(bytesOf(data))
	}
	texts, err := readStrings(v.address, facts.shape)
	if err == nil && len(texts) != len(data) {
		err = refuse("the tensor has %d strings, not %d", len(texts), len(data))
	}
	copy(any(data).([]string), texts)
	return err
}

// read copies all elements, as they lie in memory.
func (f *tensorFacts) read(bytes []byte) error {
	elements, err := f.elements(len(bytes))
	copy(bytes, elements)
	return err
}

// elements is the memory of a tensor that the CPU reaches, if it has that size.
func (f *tensorFacts) elements(size int) ([]byte, error) {
	if !f.onCPU {
		return nil, refuse("the tensor is in the memory of a device; copy it to the CPU first")
	}
	if size != f.size {
		return nil, refuse("there are %d bytes for the %d of the tensor", size, f.size)
	}
	return unsafe.Slice((*byte)(f.data), f.size), nil
}

// Write copies data to the elements of a tensor, which must be of type T and as many. Strings cannot be written.
func Write[T Element](v *Value, data []T) error {
	if err := v.acquire(); err != nil {
		return err
	}
	defer v.done()
	facts, err := typed[T](v)
	if err != nil {
		return err
	}
	if facts.elementType == StringType {
		return refuse("the strings of a tensor cannot be written; make another tensor")
	}
	bytes := bytesOf(data)
	elements, err := facts.elements(len(bytes))
	copy(elements, bytes)
	return err
}

// WithData calls a function with the elements of a tensor in place, to read and to write. The tensor must be of type T,
// not of strings, and in memory of the CPU. It is not released before the function has ended; the slice must not be
// used after that.
func WithData[T Element](v *Value, use func(data []T) error) error {
	if err := v.acquire(); err != nil {
		return err
	}
	defer v.done()
	facts, err := typed[T](v)
	if err != nil {
		return err
	}
	if facts.elementType == StringType {
		return refuse("the strings of a tensor cannot be used in place; Data copies them")
	}
	if _, err := facts.elements(facts.size); err != nil {
		return err
	}
	if facts.size == 0 {
		return use([]T{})
	}
	var element T
	return use(unsafe.Slice((*T)(facts.data), facts.size/int(unsafe.Sizeof(element))))
}

// newStrings makes a tensor of strings: the library reads all bytes at once, and where each string ends.
func newStrings(texts []string, shape []int64) (*Value, error) {
	var bytes []byte
	ends := make([]int64, len(texts))
	for i, text := range texts {
		bytes = append(bytes, text...)
		ends[i] = int64(len(bytes))
	}
	var status uintptr
	address := native.Tensor_of_strings(bytes, ends, shape, &status)
	return newValue(address, failure(status))
}

func readStrings(address uintptr, shape []int64) ([]string, error) {
	var status uintptr
	size := native.Strings_size(address, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	count := int64(1)
	for _, dimension := range shape {
		count *= dimension
	}
	bytes, ends := make([]byte, size), make([]int64, count)
	if count == 0 {
		return []string{}, nil
	}
	native.Read_strings(address, bytes, ends, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	texts, all, start := make([]string, count), string(bytes), int64(0)
	for i, end := range ends {
		texts[i] = all[start:end]
		start = end
	}
	return texts, nil
}
