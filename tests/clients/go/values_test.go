// Values of every kind: numbers, strings, scalars, custom data, sequences and maps, as inputs and outputs.
package clients

import (
	"encoding/binary"
	"testing"

	ort "github.com/yalue/onnxruntime_go"
)

// pair is a tensor of 0 and 7, and the tensor for twice that and one more.
func pair[T ort.IntData | ort.FloatData](t *testing.T) (ort.Value, ort.Value, func()) {
	input := made(ort.NewTensor(ort.NewShape(2), []T{0, 7}))(t)
	output := made(ort.NewEmptyTensor[T](ort.NewShape(2)))(t)
	return input, output, func() { equal(t, output.GetData(), []T{1, 15}) }
}

func TestElementTypes(t *testing.T) {
	makers := []struct {
		name string
		pair func(*testing.T) (ort.Value, ort.Value, func())
	}{
		{"float", pair[float32]}, {"double", pair[float64]}, {"int8", pair[int8]}, {"int16", pair[int16]},
		{"int32", pair[int32]}, {"int64", pair[int64]}, {"uint8", pair[uint8]}, {"uint16", pair[uint16]},
		{"uint32", pair[uint32]}, {"uint64", pair[uint64]},
	}
	var inputNames, outputNames []string
	var inputs, outputs []ort.Value
	var checks []func()
	add := func(name string, input, output ort.Value, check func()) {
		inputNames, outputNames = append(inputNames, "x_"+name), append(outputNames, "y_"+name)
		inputs, outputs, checks = append(inputs, input), append(outputs, output), append(checks, check)
	}
	for _, maker := range makers {
		input, output, check := maker.pair(t)
		add(maker.name, input, output, check)
	}

	halves := made(ort.NewCustomDataTensor(ort.NewShape(2), []byte{0, 0, 0, 0x3c}, ort.TensorElementDataTypeFloat16))(t)
	doubled := made(ort.NewCustomDataTensor(ort.NewShape(2), make([]byte, 4), ort.TensorElementDataTypeFloat16))(t)
	add("float16", halves, doubled, func() {
		data := doubled.GetData()
		equal(t, []uint16{binary.LittleEndian.Uint16(data), binary.LittleEndian.Uint16(data[2:])}, []uint16{0x3c00, 0x4200})
	})
	flags := made(ort.NewTensor(ort.NewShape(2), []bool{true, false}))(t)
	negated := made(ort.NewEmptyTensor[bool](ort.NewShape(2)))(t)
	add("bool", flags, negated, func() { equal(t, negated.GetData(), []bool{false, true}) })
	words := made(ort.NewStringTensor(ort.NewShape(2)))(t)
	must(t, words.SetContents([]string{"", "Grüße, 日本語 🐦"}))
	same := made(ort.NewStringTensor(ort.NewShape(2)))(t)
	add("string", words, same, func() { equal(t, made(same.GetContents())(t), []string{"", "Grüße, 日本語 🐦"}) })

	session := made(ort.NewAdvancedSession(model("types"), inputNames, outputNames, inputs, outputs, nil))(t)
	defer session.Destroy()
	must(t, session.Run())
	for _, check := range checks {
		check()
	}
	for i := range inputs {
		must(t, inputs[i].Destroy())
		must(t, outputs[i].Destroy())
	}
}

func TestStringsOfChangingLength(t *testing.T) {
	session := made(ort.NewDynamicAdvancedSession(model("text"), []string{"text"}, []string{"upper"}, nil))(t)
	defer session.Destroy()
	for _, word := range []string{"x", "", "a much longer word that no small buffer holds"} {
		input := made(ort.NewStringTensor(ort.NewShape(2)))(t)
		must(t, input.SetElement(0, word))
		must(t, input.SetElement(1, "b"))
		refused(t, input.SetElement(2, "c"))
		outputs := []ort.Value{nil}
		must(t, session.Run([]ort.Value{input}, outputs))
		result := made(outputs[0].(*ort.StringTensor).GetContents())(t)
		if len(result) != 2 || len(result[0]) != len(word) || result[1] != "B" {
			t.Errorf("%q becomes %q", word, result)
		}
		must(t, outputs[0].Destroy())
		must(t, input.Destroy())
	}
}

func TestScalars(t *testing.T) {
	rounds := made(ort.NewScalar(int64(25)))(t)
	defer rounds.Destroy()
	sum := made(ort.NewEmptyScalar[float32]())(t)
	defer sum.Destroy()
	session := made(ort.NewAdvancedSession(model("endless"), []string{"rounds"}, []string{"sum"}, []ort.Value{rounds},
		[]ort.Value{sum}, nil))(t)
	defer session.Destroy()
	must(t, session.Run())
	if sum.GetData() != 25 {
		t.Error("the sum is", sum.GetData())
	}
}

// scores runs a classifier of scikit-learn's form; the second output is a sequence of one map a row.
func scores(t *testing.T, name string) ([]ort.Value, func()) {
	session := made(ort.NewDynamicAdvancedSession(model(name), []string{"features"}, []string{"label", "scores"}, nil))(t)
	features := made(ort.NewTensor(ort.NewShape(2, 3), []float32{0, 0, 0, 9, 0, 0}))(t)
	outputs := []ort.Value{nil, nil}
	must(t, session.Run([]ort.Value{features}, outputs))
	return outputs, func() {
		for _, value := range append(outputs, features) {
			must(t, value.Destroy())
		}
		must(t, session.Destroy())
	}
}

func TestSequencesOfMaps(t *testing.T) {
	outputs, destroy := scores(t, "scores")
	defer destroy()
	equal(t, outputs[0].(*ort.Tensor[int64]).GetData()[1:], []int64{10})
	if outputs[1].GetONNXType() != ort.ONNXTypeSequence {
		t.Fatal("the scores are", outputs[1].GetONNXType())
	}
	rows := made(outputs[1].(*ort.Sequence).GetValues())(t)
	if len(rows) != 2 {
		t.Fatal("there are", len(rows), "rows")
	}
	keys, values, err := rows[0].(*ort.Map).GetKeysAndValues()
	must(t, err)
	equal(t, keys.(*ort.Tensor[int64]).GetData(), []int64{10, 20, 30})
	for _, value := range values.(*ort.Tensor[float32]).GetData() {
		if value < 0.33333 || value > 0.33334 {
			t.Error("three equal features give", value)
		}
	}
}

func TestMapsWithStrings(t *testing.T) {
	outputs, destroy := scores(t, "words")
	defer destroy()
	equal(t, made(outputs[0].(*ort.StringTensor).GetContents())(t)[1:], []string{"ant"})
	rows := made(outputs[1].(*ort.Sequence).GetValues())(t)
	keys, values, err := rows[1].(*ort.Map).GetKeysAndValues()
	must(t, err)
	equal(t, made(keys.(*ort.StringTensor).GetContents())(t), []string{"ant", "bee", "cat"})
	if certain := values.(*ort.Tensor[float32]).GetData()[0]; certain < 0.999 {
		t.Error("the score of the ant is", certain)
	}
}

func TestSequences(t *testing.T) {
	split := made(ort.NewDynamicAdvancedSession(model("pieces"), []string{"rows"}, []string{"pieces"}, nil))(t)
	defer split.Destroy()
	join := made(ort.NewDynamicAdvancedSession(model("join"), []string{"pieces"}, []string{"rows"}, nil))(t)
	defer join.Destroy()
	rows := made(ort.NewTensor(ort.NewShape(3, 2), []float32{1, 2, 3, 4, 5, 6}))(t)
	defer rows.Destroy()

	pieces := []ort.Value{nil}
	must(t, split.Run([]ort.Value{rows}, pieces))
	defer pieces[0].Destroy()
	parts := made(pieces[0].(*ort.Sequence).GetValues())(t)
	if len(parts) != 3 {
		t.Fatal("there are", len(parts), "pieces")
	}
	equal(t, parts[1].(*ort.Tensor[float32]).GetData(), []float32{3, 4})

	own := made(ort.NewSequence([]ort.Value{parts[2], rows}))(t)
	joined := []ort.Value{nil}
	must(t, join.Run([]ort.Value{own}, joined))
	defer joined[0].Destroy()
	equal(t, joined[0].(*ort.Tensor[float32]).GetData(), []float32{5, 6, 1, 2, 3, 4, 5, 6})
}

func TestMapsAsInputs(t *testing.T) {
	counts := made(ort.NewMapFromGoMap(map[int64]float32{7: 1}))(t)
	keys, values, err := counts.GetKeysAndValues()
	must(t, err)
	equal(t, keys.(*ort.Tensor[int64]).GetData(), []int64{7})
	equal(t, values.(*ort.Tensor[float32]).GetData(), []float32{1})
	must(t, counts.Destroy())

	words := made(ort.NewStringTensor(ort.NewShape(2)))(t)
	must(t, words.SetContents([]string{"cat", "ant"}))
	numbers := made(ort.NewTensor(ort.NewShape(2), []float32{3, 5}))(t)
	counts = made(ort.NewMap(words, numbers))(t)
	defer counts.Destroy()
	session := made(ort.NewDynamicAdvancedSession(model("vocabulary"), []string{"counts"}, []string{"vector"}, nil))(t)
	defer session.Destroy()
	outputs := []ort.Value{nil}
	must(t, session.Run([]ort.Value{counts}, outputs))
	defer outputs[0].Destroy()
	equal(t, outputs[0].(*ort.Tensor[float32]).GetData(), []float32{5, 0, 3})
}
