// Sequences, maps and optionals.

package tests

import (
	"testing"

	"ortolan.org/ortolan"
)

func TestSequences(t *testing.T) {
	outputs := must[[]*ortolan.Value](t)(open(t, "sequence", nil).Run(floats(t, 1), floats(t, 2, 3)))
	pair := outputs[0]
	equal(t, must[ortolan.Kind](t)(pair.Kind()), ortolan.SequenceKind)
	equal(t, must[int](t)(pair.Len()), 2)
	second := must[*ortolan.Value](t)(pair.At(1))
	check(t, pair.Close())
	equal(t, dataOf[float32](t, second), []float32{2, 3})

	made := must[*ortolan.Value](t)(ortolan.NewSequence(floats(t, 1), floats(t, 2), second))
	check(t, second.Close())
	length := must[[]*ortolan.Value](t)(open(t, "sequence_length", nil).Run(made))
	equal(t, dataOf[int64](t, length[0]), []int64{3})
	equal(t, must[*ortolan.TypeInfo](t)(made.Type()).String(), "sequence(tensor(float32, []))")
	_, err := made.At(3)
	refused(t, err, ortolan.Fail, "index 3 is out of range; the sequence has 3 items")
	_, err = made.At(-1)
	refused(t, err, ortolan.InvalidArgument, "there is no element of that index")
	_, err = ortolan.NewSequence(made, nil)
	refused(t, err, ortolan.InvalidArgument, "value 1 is nil")
	_, err = ortolan.Data[float32](made)
	refused(t, err, ortolan.InvalidArgument, "the value is a sequence, not a tensor")
	_, err = made.Shape()
	refused(t, err, ortolan.InvalidArgument, "the value is a sequence, not a tensor")
}

func TestMapsComeOut(t *testing.T) {
	row := tensor(t, []float32{1, 2, 3}, 1, 3)
	maps := must[[]*ortolan.Value](t)(open(t, "zip_map_words", nil).Run(row))[0]
	first := must[*ortolan.Value](t)(maps.At(0))
	words := must[map[string]float32](t)(ortolan.MapOf[string, float32](first))
	equal(t, words, map[string]float32{"cat": 1, "dög": 2, "bird": 3})
	_, err := ortolan.MapOf[int64, float32](first)
	refused(t, err, ortolan.InvalidArgument, "the tensor is of type string, not of int64")
	_, err = ortolan.MapOf[string, float32](maps)
	refused(t, err, ortolan.InvalidArgument, "the value is a sequence, not a map")

	maps = must[[]*ortolan.Value](t)(open(t, "zip_map_numbers", nil).Run(row))[0]
	first = must[[]*ortolan.Value](t)(maps.All())[0]
	numbers := must[map[int64]float32](t)(ortolan.MapOf[int64, float32](first))
	equal(t, numbers, map[int64]float32{10: 1, 20: 2, 30: 3})
}

func TestMapsGoIn(t *testing.T) {
	session := open(t, "map_to_vector", nil)
	words := must[*ortolan.Value](t)(ortolan.NewMapOf(map[string]float32{"bird": 5, "cat": 7}))
	outputs := must[[]*ortolan.Value](t)(session.Run(words))
	equal(t, dataOf[float32](t, outputs[0]), []float32{7, 0, 5})
	parts := must[[]*ortolan.Value](t)(words.All())
	again := must[*ortolan.Value](t)(ortolan.NewMap(parts[0], parts[1]))
	entries := must[map[string]float32](t)(ortolan.MapOf[string, float32](again))
	equal(t, entries, map[string]float32{"bird": 5, "cat": 7})
	_, err := ortolan.NewMap(floats(t, 1), floats(t, 2))
	refused(t, err, ortolan.InvalidArgument, "a map's keys are of int64, string, not float")
	_, err = ortolan.NewMap(tensor(t, []int64{1, 2}, 2), floats(t, 2))
	refused(t, err, ortolan.InvalidArgument, "2 keys and 1 values")
}

func TestOptionals(t *testing.T) {
	session := open(t, "optional", nil)
	inputs := must[[]ortolan.ValueInfo](t)(session.Inputs())
	equal(t, inputs[0].Type.String(), "optional(tensor(float32, [?]))")
	present := must[[]*ortolan.Value](t)(session.Run(floats(t, 1)))
	equal(t, dataOf[bool](t, present[0]), []bool{true})
	equal(t, must[bool](t)(floats(t, 1).HasValue()), true)
}
