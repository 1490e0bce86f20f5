// Tensors: every type in and out, in place, raw, and what is refused.

package tests

import (
	"errors"
	"math"
	"testing"

	"ortolan.org/ortolan"
)

// roundTrip runs data through the model that returns its input.
func roundTrip[T ortolan.Element](t *testing.T, name string, data []T) {
	t.Run(name, func(t *testing.T) {
		input := tensor(t, data, 1, int64(len(data)))
		equal(t, must[ortolan.ElementType](t)(input.ElementType()), ortolan.TypeOf[T]())
		outputs := must[[]*ortolan.Value](t)(open(t, "identity_"+name, nil).Run(input))
		equal(t, dataOf[T](t, outputs[0]), data)
		equal(t, must[[]int64](t)(outputs[0].Shape()), []int64{1, int64(len(data))})
		equal(t, must[ortolan.ElementType](t)(outputs[0].ElementType()), ortolan.TypeOf[T]())
		check(t, outputs[0].Close())
	})
}

func TestEveryType(t *testing.T) {
	roundTrip(t, "float", []float32{0, -1.5, math.MaxFloat32, float32(math.Inf(1))})
	roundTrip(t, "double", []float64{0, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64})
	roundTrip(t, "float16", []ortolan.Float16{0, 0x3c00, 0x7c00, 0xffff})
	roundTrip(t, "bfloat16", []ortolan.BFloat16{0, 0x3f80, 0x7f80, 0xffff})
	roundTrip(t, "int8", []int8{0, math.MinInt8, math.MaxInt8})
	roundTrip(t, "uint8", []uint8{0, 1, math.MaxUint8})
	roundTrip(t, "int16", []int16{0, math.MinInt16, math.MaxInt16})
	roundTrip(t, "uint16", []uint16{0, 1, math.MaxUint16})
	roundTrip(t, "int32", []int32{0, math.MinInt32, math.MaxInt32})
	roundTrip(t, "uint32", []uint32{0, 1, math.MaxUint32})
	roundTrip(t, "int64", []int64{0, math.MinInt64, math.MaxInt64})
	roundTrip(t, "uint64", []uint64{0, 1, math.MaxUint64})
	roundTrip(t, "bool", []bool{true, false, true})
	roundTrip(t, "string", []string{"", "a\x00b", "Ørtolan", "鳥", "\xff"})
}

func TestZeroSizesAndScalars(t *testing.T) {
	empty := tensor(t, []float32{}, 0, 3)
	equal(t, dataOf[float32](t, empty), []float32{})
	equal(t, dataOf[float32](t, must[[]*ortolan.Value](t)(open(t, "identity_float", nil).Run(empty))[0]), []float32{})
	check(t, ortolan.WithData(empty, func(data []float32) error {
		equal(t, len(data), 0)
		return nil
	}))
	equal(t, dataOf[string](t, tensor(t, []string{}, 0)), []string{})
	scalar := tensor(t, []int64{7})
	equal(t, must[[]int64](t)(scalar.Shape()), []int64{})
	equal(t, dataOf[int64](t, scalar), []int64{7})
	equal(t, dataOf[string](t, tensor(t, []string{"one"})), []string{"one"})
}

func TestManyDimensions(t *testing.T) {
	for _, rank := range []int{4, 5, 8, 9, 12} {
		shape := make([]int64, rank)
		for i := range shape {
			shape[i] = 1
		}
		shape[rank-1] = 3
		value := tensor(t, []int8{1, 2, 3}, shape...)
		equal(t, must[[]int64](t)(value.Shape()), shape)
		equal(t, dataOf[int8](t, value), []int8{1, 2, 3})
	}
}

func TestDataInPlace(t *testing.T) {
	zeros := must[*ortolan.Value](t)(ortolan.NewZeros(ortolan.Int32Type, 2, 2))
	equal(t, dataOf[int32](t, zeros), []int32{0, 0, 0, 0})
	check(t, ortolan.WithData(zeros, func(data []int32) error {
		data[3] = 9
		return nil
	}))
	equal(t, dataOf[int32](t, zeros), []int32{0, 0, 0, 9})
	check(t, ortolan.Write(zeros, []int32{1, 2, 3, 4}))
	into := make([]int32, 4)
	check(t, ortolan.Read(zeros, into))
	equal(t, into, []int32{1, 2, 3, 4})
	own := errors.New("own")
	equal(t, ortolan.WithData(zeros, func([]int32) error { return own }), own)
	check(t, ortolan.WithData(zeros, func(data []int32) error {
		check(t, zeros.Close())
		data[0]++ // the memory stays for the function
		return nil
	}))
	refused(t, ortolan.Write(zeros, into), ortolan.InvalidArgument, "the value is closed")
}

func TestShapesMustFit(t *testing.T) {
	_, err := ortolan.NewTensor([]float32{1, 2, 3}, 2)
	refused(t, err, ortolan.InvalidArgument, "the bytes are not as many as the tensor's")
	_, err = ortolan.NewTensor([]float32{1, 2})
	refused(t, err, ortolan.InvalidArgument, "the bytes are not as many as the tensor's")
	_, err = ortolan.NewTensor([]float32{1, 2}, -2)
	refused(t, err, ortolan.InvalidArgument, "-2")
	_, err = ortolan.NewTensor([]float32{1}, math.MaxInt64, math.MaxInt64)
	refused(t, err, ortolan.InvalidArgument, "9223372036854775807 * 9223372036854775807 overflows")
	_, err = ortolan.NewTensor([]string{"a", "b"}, 3)
	refused(t, err, ortolan.InvalidArgument, "there must be as many strings as the shape has elements")
	_, err = ortolan.NewZeros(ortolan.ElementType(77), 1)
	refused(t, err, ortolan.InvalidArgument, "77")
	value := tensor(t, []float32{1, 2}, 2)
	refused(t, ortolan.Read(value, make([]float32, 3)), ortolan.InvalidArgument, "there are 12 bytes for the 8")
	refused(t, ortolan.Write(value, []float32{1}), ortolan.InvalidArgument, "there are 4 bytes for the 8")
	refused(t, value.SetBytes(make([]byte, 7)), ortolan.InvalidArgument, "there are 7 bytes for the 8")
	err = ortolan.Read(tensor(t, []string{"a"}, 1), make([]string, 2))
	refused(t, err, ortolan.InvalidArgument, "1 strings, not 2")
}

func TestTypesMustFit(t *testing.T) {
	value := tensor(t, []float32{1, 2}, 2)
	_, err := ortolan.Data[float64](value)
	refused(t, err, ortolan.InvalidArgument, "the tensor is of type float32, not of float64")
	refused(t, ortolan.Write(value, []int32{1, 2}), ortolan.InvalidArgument, "not of int32")
	texts := tensor(t, []string{"a"}, 1)
	refused(t, ortolan.Write(texts, []string{"b"}), ortolan.InvalidArgument, "cannot be written")
	refused(t, ortolan.WithData(texts, func([]string) error { return nil }), ortolan.InvalidArgument, "in place")
	_, err = texts.Bytes()
	refused(t, err, ortolan.InvalidArgument, "strings")
	refused(t, texts.SetBytes(nil), ortolan.InvalidArgument, "strings")
}

func TestRawBytes(t *testing.T) {
	for _, elementType := range []ortolan.ElementType{ortolan.Float8E4M3FNType, ortolan.Float8E4M3FNUZType,
		ortolan.Float8E5M2Type, ortolan.Float8E5M2FNUZType} {
		value := must[*ortolan.Value](t)(ortolan.NewRawTensor(elementType, []byte{1, 2, 3}, 3))
		equal(t, must[ortolan.ElementType](t)(value.ElementType()), elementType)
		equal(t, must[[]byte](t)(value.Bytes()), []byte{1, 2, 3})
	}
	for _, elementType := range []ortolan.ElementType{ortolan.Int4Type, ortolan.Uint4Type} {
		value := must[*ortolan.Value](t)(ortolan.NewRawTensor(elementType, []byte{0x21, 0x03}, 3))
		equal(t, must[[]byte](t)(value.Bytes()), []byte{0x21, 0x03})
		check(t, value.SetBytes([]byte{0x54, 0x06}))
		equal(t, must[[]byte](t)(value.Bytes()), []byte{0x54, 0x06})
	}
	equal(t, must[[]byte](t)(tensor(t, []uint16{0x0201}, 1).Bytes()), []byte{1, 2})
}

func TestFloat16(t *testing.T) {
	for bits := 0; bits < 1<<16; bits++ {
		half, brain := ortolan.Float16(bits), ortolan.BFloat16(bits)
		if number := half.Float32(); number == number && ortolan.NewFloat16(number) != half {
			t.Fatalf("float16 %#x is %g, which is %#x", bits, number, ortolan.NewFloat16(number))
		}
		if number := brain.Float32(); number == number && ortolan.NewBFloat16(number) != brain {
			t.Fatalf("bfloat16 %#x is %g, which is %#x", bits, number, ortolan.NewBFloat16(number))
		}
	}
	for number, bits := range map[float32]ortolan.Float16{1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff,
		65520: 0x7c00, 1e-8: 0, 3e-8: 1, 1.00048828125: 0x3c00, 1.00146484375: 0x3c02, 5.9604645e-8: 1} {
		equal(t, ortolan.NewFloat16(number), bits)
	}
	for number, bits := range map[float32]ortolan.BFloat16{1: 0x3f80, 1.00390625: 0x3f80, 1.01171875: 0x3f82,
		math.MaxFloat32: 0x7f80} {
		equal(t, ortolan.NewBFloat16(number), bits)
	}
	nan := float32(math.NaN())
	equal(t, math.IsNaN(float64(ortolan.NewFloat16(nan).Float32())), true)
	equal(t, math.IsNaN(float64(ortolan.NewBFloat16(nan).Float32())), true)
}
