// Types: of elements, and of the inputs and outputs of models.

package ortolan

import (
	"fmt"
	"strings"

	"ortolan.org/ortolan/internal/native"
)

// ElementType is the type of a tensor's elements.
type ElementType int32

// The types of elements. Types of less than a byte, and those of 8 bits with an exponent, have no type in Go: see
// NewRawTensor and Bytes.
const (
	UndefinedType      ElementType = 0
	Float32Type        ElementType = 1
	Uint8Type          ElementType = 2
	Int8Type           ElementType = 3
	Uint16Type         ElementType = 4
	Int16Type          ElementType = 5
	Int32Type          ElementType = 6
	Int64Type          ElementType = 7
	StringType         ElementType = 8
	BoolType           ElementType = 9
	Float16Type        ElementType = 10
	Float64Type        ElementType = 11
	Uint32Type         ElementType = 12
	Uint64Type         ElementType = 13
	Complex64Type      ElementType = 14
	Complex128Type     ElementType = 15
	BFloat16Type       ElementType = 16
	Float8E4M3FNType   ElementType = 17
	Float8E4M3FNUZType ElementType = 18
	Float8E5M2Type     ElementType = 19
	Float8E5M2FNUZType ElementType = 20
	Uint4Type          ElementType = 21 // two a byte, the first in the low bits
	Int4Type           ElementType = 22 // likewise
	Float4E2M1Type     ElementType = 23 // likewise
	Uint2Type          ElementType = 24 // four a byte, the first in the low bits
	Int2Type           ElementType = 25 // likewise
	Float8E8M0Type     ElementType = 26
)

var elementTypeNames = [...]string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64",
	"string", "bool", "float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn",
	"float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "uint2", "int2", "float8e8m0"}

func (t ElementType) String() string {
	if t < 0 || int(t) >= len(elementTypeNames) {
		return fmt.Sprintf("element type %d", int32(t))
	}
	return elementTypeNames[t]
}

// Kind is a kind of value.
type Kind int32

// The kinds of values.
const (
	UnknownKind  Kind = 0
	TensorKind   Kind = 1
	SequenceKind Kind = 2
	MapKind      Kind = 3
	OpaqueKind   Kind = 4
	SparseKind   Kind = 5
	OptionalKind Kind = 6
)

func (k Kind) String() string {
	names := []string{"unknown", "tensor", "sequence", "map", "opaque", "sparse tensor", "optional"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int32(k))
	}
	return names[k]
}

// TypeInfo is the type of a value.
type TypeInfo struct {
	Kind    Kind
	Element ElementType // of tensors; of the keys of maps
	Shape   []int64     // of tensors; -1 stands for a dimension that is symbolic or not known
	Symbols []string    // the names of the symbolic dimensions, one for each dimension; empty for others
	Content *TypeInfo   // what a sequence or an optional holds, or the values of a map; nil for tensors
}

// String writes the type as "tensor(float32, [batch, 3, ?])", for people.
func (t *TypeInfo) String() string {
	switch t.Kind {
	case TensorKind, SparseKind:
		return fmt.Sprintf("%s(%s, [%s])", t.Kind, t.Element, strings.Join(t.dimensions(), ", "))
	case MapKind:
		return fmt.Sprintf("map(%s, %s)", t.Element, t.Content)
	}
	if t.Content == nil {
		return t.Kind.String()
	}
	return fmt.Sprintf("%s(%s)", t.Kind, t.Content)
}

func (t *TypeInfo) dimensions() []string {
	words := make([]string, len(t.Shape))
	for i, size := range t.Shape {
		switch {
		case size >= 0:
			words[i] = fmt.Sprint(size)
		case t.Symbols[i] != "":
			words[i] = t.Symbols[i]
		default:
			words[i] = "?"
		}
	}
	return words
}

// takeType copies a type of the library and frees it.
func takeType(address, status uintptr) (*TypeInfo, error) {
	if err := failure(status); err != nil {
		return nil, err
	}
	defer native.Release_type(address)
	return copyType(address)
}

func copyType(address uintptr) (*TypeInfo, error) {
	var status uintptr
	info := &TypeInfo{Kind: Kind(native.Type_kind(address, &status))}
	if status == 0 {
		info.Element = ElementType(native.Type_element(address, &status))
	}
	if status == 0 {
		rank := native.Type_rank(address, &status)
		for i := 0; i < rank && status == 0; i++ {
			info.Shape = append(info.Shape, native.Type_dimension(address, i, &status))
			if status == 0 {
				info.Symbols = append(info.Symbols, native.TakeString(native.Type_symbol(address, i, &status)))
			}
		}
	}
	if status != 0 {
		return nil, failure(status)
	}
	content := native.Type_content(address, &status)
	if status != 0 || content == 0 {
		return info, failure(status)
	}
	var err error
	info.Content, err = takeType(content, 0)
	return info, err
}
