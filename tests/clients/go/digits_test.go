// The digits network: sessions with fixed and with changing tensors, many goroutines, metadata.
package clients

import (
	"os"
	"sync"
	"testing"

	ort "github.com/yalue/onnxruntime_go"
)

var (
	inputNames  = []string{"image"}
	outputNames = []string{"probabilities"}
)

func TestAdvancedSession(t *testing.T) {
	input := made(ort.NewEmptyTensor[float32](ort.NewShape(1, 1, 8, 8)))(t)
	defer input.Destroy()
	output := made(ort.NewEmptyTensor[float32](ort.NewShape(1, 10)))(t)
	defer output.Destroy()
	session := made(ort.NewAdvancedSession(digitsModel(), inputNames, outputNames, []ort.Value{input},
		[]ort.Value{output}, nil))(t)
	defer session.Destroy()
	for digit := 0; digit < 10; digit++ {
		copy(input.GetData(), picture(t, digit))
		must(t, session.Run())
		if got := best(output.GetData()); got != digit {
			t.Errorf("%d is taken for %d", digit, got)
		}
	}
}

func dynamicSession(t testing.TB, options *ort.SessionOptions) *ort.DynamicAdvancedSession {
	return made(ort.NewDynamicAdvancedSession(digitsModel(), inputNames, outputNames, options))(t)
}

// classify runs the session, which allocates the output.
func classify(t testing.TB, session *ort.DynamicAdvancedSession, digit int) int {
	input := made(ort.NewTensor(ort.NewShape(1, 1, 8, 8), picture(t, digit)))(t)
	defer input.Destroy()
	outputs := []ort.Value{nil}
	must(t, session.Run([]ort.Value{input}, outputs))
	defer outputs[0].Destroy()
	equal(t, outputs[0].GetShape(), []int64{1, 10})
	return best(outputs[0].(*ort.Tensor[float32]).GetData())
}

func TestBatchesOfEverySize(t *testing.T) {
	session := dynamicSession(t, nil)
	defer session.Destroy()
	for _, size := range []int{3, 1, 10, 2} {
		var pixels []float32
		for digit := 0; digit < size; digit++ {
			pixels = append(pixels, picture(t, digit)...)
		}
		input := made(ort.NewTensor(ort.NewShape(int64(size), 1, 8, 8), pixels))(t)
		output := made(ort.NewEmptyTensor[float32](ort.NewShape(int64(size), 10)))(t)
		must(t, session.Run([]ort.Value{input}, []ort.Value{output}))
		for digit := 0; digit < size; digit++ {
			if got := best(output.GetData()[10*digit : 10*digit+10]); got != digit {
				t.Errorf("%d is taken for %d in a batch of %d", digit, got, size)
			}
		}
		must(t, input.Destroy())
		must(t, output.Destroy())
	}
}

func TestSessionFromBytes(t *testing.T) {
	data := made(os.ReadFile(digitsModel()))(t)
	session := made(ort.NewDynamicAdvancedSessionWithONNXData(data, inputNames, outputNames, nil))(t)
	defer session.Destroy()
	for i := range data {
		data[i] = 0
	}
	if got := classify(t, session, 5); got != 5 {
		t.Errorf("5 is taken for %d", got)
	}
}

func TestGoroutines(t *testing.T) {
	options := made(ort.NewSessionOptions())(t)
	defer options.Destroy()
	must(t, options.SetIntraOpNumThreads(2))
	shared := dynamicSession(t, options)
	defer shared.Destroy()
	var group sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			own := dynamicSession(t, options)
			defer own.Destroy()
			for i := 0; i < 50; i++ {
				digit := (worker + i) % 10
				if classify(t, shared, digit) != digit || classify(t, own, digit) != digit {
					t.Errorf("goroutine %d is wrong about %d", worker, digit)
				}
			}
		}(worker)
	}
	group.Wait()
}

func TestBinding(t *testing.T) {
	session := dynamicSession(t, nil)
	defer session.Destroy()
	binding := made(session.CreateIoBinding())(t)
	defer binding.Destroy()
	input := made(ort.NewTensor(ort.NewShape(1, 1, 8, 8), picture(t, 9)))(t)
	defer input.Destroy()
	output := made(ort.NewEmptyTensor[float32](ort.NewShape(1, 10)))(t)
	defer output.Destroy()
	must(t, binding.BindInput("image", input))
	must(t, binding.BindOutput("probabilities", output))
	equal(t, made(binding.GetBoundOutputNames())(t), outputNames)
	for _, digit := range []int{9, 4} {
		copy(input.GetData(), picture(t, digit))
		must(t, session.RunWithBinding(binding))
		if got := best(output.GetData()); got != digit {
			t.Errorf("%d is taken for %d", digit, got)
		}
	}
	values := made(binding.GetBoundOutputValues())(t)
	if len(values) != 1 || best(values[0].(*ort.Tensor[float32]).GetData()) != 4 {
		t.Error("the bound output does not hold the result")
	}
	binding.ClearBoundInputs()
	refused(t, session.RunWithBinding(binding))
	refused(t, binding.BindInput("picture", input), "picture")
}

func TestInputsAndOutputs(t *testing.T) {
	inputs, outputs, err := ort.GetInputOutputInfo(digitsModel())
	must(t, err)
	equal(t, inputs[0].Dimensions, []int64{-1, 1, 8, 8})
	equal(t, outputs[0].Dimensions, []int64{-1, 10})
	if inputs[0].Name != "image" || inputs[0].DataType != ort.TensorElementDataTypeFloat {
		t.Error(inputs[0].String())
	}
}

func TestMetadata(t *testing.T) {
	metadata := made(ort.GetModelMetadata(model("defaults")))(t)
	defer metadata.Destroy()
	texts := []string{made(metadata.GetProducerName())(t), made(metadata.GetGraphName())(t),
		made(metadata.GetDomain())(t), made(metadata.GetDescription())(t)}
	equal(t, texts, []string{"make_models", "defaults", "org.example", "Drei mal – très bien"})
	if version := made(metadata.GetVersion())(t); version != 42 {
		t.Error("the version is", version)
	}
	value, found, err := metadata.LookupCustomMetadataMap("language")
	must(t, err)
	if !found || value != "Ελληνικά" {
		t.Error("the language is", value)
	}
	_, found, err = metadata.LookupCustomMetadataMap("nothing")
	must(t, err)
	if found {
		t.Error("there is an entry that is not there")
	}
	if keys := made(metadata.GetCustomMetadataMapKeys())(t); len(keys) != 2 {
		t.Error("the keys are", keys)
	}
}
