// Sequences and maps.

package ortolan

import "ortolan.org/ortolan/internal/native"

// NewSequence makes a sequence of values, which it shares: they may be closed.
func NewSequence(values ...*Value) (*Value, error) {
	objects, addresses, err := useValues(values)
	if err != nil {
		return nil, err
	}
	defer doneAll(objects...)
	var status uintptr
	address := native.Create_sequence(addresses, &status)
	return newValue(address, failure(status))
}

func useValues(values []*Value) ([]*object, []uintptr, error) {
	objects, addresses := make([]*object, len(values)), make([]uintptr, len(values))
	for i, value := range values {
		if value == nil {
			return nil, nil, refuse("value %d is nil", i)
		}
		objects[i], addresses[i] = &value.object, value.address
	}
	return objects, addresses, acquireAll(objects...)
}

// NewMap makes a map of two tensors of one length, which it shares: they may be closed. Keys are of int64 or string,
// values of float32, float64, int64 or string.
func NewMap(keys, values *Value) (*Value, error) {
	objects, addresses, err := useValues([]*Value{keys, values})
	if err != nil {
		return nil, err
	}
	defer doneAll(objects...)
	var status uintptr
	address := native.Create_map(addresses[0], addresses[1], &status)
	return newValue(address, failure(status))
}

// Len is the number of values in a sequence; 2 for a map, which has its keys and its values.
func (v *Value) Len() (count int, err error) {
	err = v.use(func(address uintptr, status *uintptr) { count = native.Value_count(address, status) })
	return count, err
}

// At is the value of that index in a sequence; of a map, 0 gives the keys and 1 the values. It is closed by the caller.
func (v *Value) At(index int) (*Value, error) {
	if err := v.acquire(); err != nil {
		return nil, err
	}
	defer v.done()
	var status uintptr
	address := native.Value_at(v.address, index, &status)
	return newValue(address, failure(status))
}

// All lists the values of a sequence, or the keys and the values of a map. They are closed by the caller.
func (v *Value) All() ([]*Value, error) {
	count, err := v.Len()
	if err != nil {
		return nil, err
	}
	values := make([]*Value, count)
	for i := range values {
		if values[i], err = v.At(i); err != nil {
			closeAll(values[:i])
			return nil, err
		}
	}
	return values, nil
}

func closeAll(values []*Value) {
	for _, value := range values {
		value.Close()
	}
}

// MapKey is a type that the keys of maps have.
type MapKey interface{ int64 | string }

// MapValue is a type that the values of maps have.
type MapValue interface {
	float32 | float64 | int64 | string
}

// NewMapOf makes a map like one of Go's.
func NewMapOf[K MapKey, V MapValue](entries map[K]V) (*Value, error) {
	keys, values := make([]K, 0, len(entries)), make([]V, 0, len(entries))
	for key, value := range entries {
		keys, values = append(keys, key), append(values, value)
	}
	keyTensor, err := NewTensor(keys, int64(len(keys)))
	if err != nil {
		return nil, err
	}
	defer keyTensor.Close()
	valueTensor, err := NewTensor(values, int64(len(values)))
	if err != nil {
		return nil, err
	}
	defer valueTensor.Close()
	return NewMap(keyTensor, valueTensor)
}

// MapOf copies a map, whose keys and values must be of these types.
func MapOf[K MapKey, V MapValue](v *Value) (map[K]V, error) {
	if kind, err := v.Kind(); err != nil || kind != MapKind {
		if err == nil {
			err = refuse("the value is a %s, not a map", kind)
		}
		return nil, err
	}
	parts, err := v.All()
	if err != nil {
		return nil, err
	}
	defer closeAll(parts)
	keys, err := Data[K](parts[0])
	if err != nil {
		return nil, err
	}
	values, err := Data[V](parts[1])
	if err != nil {
		return nil, err
	}
	entries := make(map[K]V, len(keys))
	for i, key := range keys {
		entries[key] = values[i]
	}
	return entries, nil
}
