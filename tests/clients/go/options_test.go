// Options and errors: levels, threads, entries, profiles, runs that are told to end, and what a program gets wrong.
package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ort "github.com/yalue/onnxruntime_go"
)

func withOptions(t *testing.T, set func(options *ort.SessionOptions) error) {
	t.Helper()
	options := made(ort.NewSessionOptions())(t)
	defer options.Destroy()
	must(t, set(options))
	session := dynamicSession(t, options)
	if got := classify(t, session, 6); got != 6 {
		t.Errorf("6 is taken for %d", got)
	}
	must(t, session.Destroy())
}

func TestOptions(t *testing.T) {
	for _, level := range []ort.GraphOptimizationLevel{ort.GraphOptimizationLevelDisableAll,
		ort.GraphOptimizationLevelEnableBasic, ort.GraphOptimizationLevelEnableExtended,
		ort.GraphOptimizationLevelEnableAll} {
		withOptions(t, func(options *ort.SessionOptions) error { return options.SetGraphOptimizationLevel(level) })
	}
	for _, mode := range []ort.ExecutionMode{ort.ExecutionModeSequential, ort.ExecutionModeParallel} {
		withOptions(t, func(options *ort.SessionOptions) error { return options.SetExecutionMode(mode) })
	}
	for _, on := range []bool{true, false} {
		withOptions(t, func(options *ort.SessionOptions) error { return options.SetCpuMemArena(on) })
		withOptions(t, func(options *ort.SessionOptions) error { return options.SetMemPattern(on) })
	}
	withOptions(t, func(options *ort.SessionOptions) error { return options.SetInterOpNumThreads(2) })
	withOptions(t, func(options *ort.SessionOptions) error { return options.SetLogSeverityLevel(ort.LoggingLevelFatal) })
}

func TestEntries(t *testing.T) {
	withOptions(t, func(options *ort.SessionOptions) error {
		must(t, options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"))
		if !made(options.HasSessionConfigEntry("session.intra_op.allow_spinning"))(t) {
			t.Error("an entry is lost")
		}
		if value := made(options.GetSessionConfigEntry("session.intra_op.allow_spinning"))(t); value != "0" {
			t.Error("an entry became", value)
		}
		if made(options.HasSessionConfigEntry("nothing"))(t) {
			t.Error("there is an entry that is not there")
		}
		return nil
	})
}

func TestFilesThatSessionsWrite(t *testing.T) {
	folder := t.TempDir()
	optimised := filepath.Join(folder, "optimised.onnx")
	withOptions(t, func(options *ort.SessionOptions) error {
		must(t, options.SetOptimizedModelFilePath(optimised))
		return options.EnableProfiling(filepath.Join(folder, "profile"))
	})
	if _, _, err := ort.GetInputOutputInfo(optimised); err != nil {
		t.Error(err)
	}
	profiles := made(filepath.Glob(filepath.Join(folder, "profile*.json")))(t)
	if len(profiles) != 1 || !strings.Contains(string(made(os.ReadFile(profiles[0]))(t)), "Softmax") {
		t.Error("the profiles are", profiles)
	}
}

func TestProvidersThatAreNotThere(t *testing.T) {
	options := made(ort.NewSessionOptions())(t)
	defer options.Destroy()
	refused(t, options.AppendExecutionProvider("XNNPACK", map[string]string{}))
	refused(t, options.AppendExecutionProvider("Nonsense", map[string]string{"a": "b"}), "Nonsense")
	refused(t, options.AppendExecutionProviderOpenVINO(map[string]string{}))
	refused(t, options.AppendExecutionProviderDirectML(0))
	session := dynamicSession(t, options)
	if got := classify(t, session, 3); got != 3 {
		t.Errorf("3 is taken for %d", got)
	}
	must(t, session.Destroy())
}

func TestRunThatIsToldToEnd(t *testing.T) {
	many, few := made(ort.NewScalar(int64(1)<<40))(t), made(ort.NewScalar(int64(10)))(t)
	defer many.Destroy()
	defer few.Destroy()
	session := made(ort.NewDynamicAdvancedSession(model("endless"), []string{"rounds"}, []string{"sum"}, nil))(t)
	defer session.Destroy()
	options := made(ort.NewRunOptions())(t)
	defer options.Destroy()
	time.AfterFunc(50*time.Millisecond, func() { _ = options.Terminate() })
	refused(t, session.RunWithOptions([]ort.Value{many}, []ort.Value{nil}, options), "erminat")

	must(t, options.UnsetTerminate())
	sum := made(ort.NewEmptyScalar[float32]())(t)
	defer sum.Destroy()
	must(t, session.RunWithOptions([]ort.Value{few}, []ort.Value{sum}, options))
	if sum.GetData() != 10 {
		t.Error("the sum is", sum.GetData())
	}
}

func TestErrors(t *testing.T) {
	_, err := ort.NewDynamicAdvancedSession("/nowhere/model.onnx", inputNames, outputNames, nil)
	refused(t, err, "/nowhere/model.onnx")
	_, err = ort.NewDynamicAdvancedSessionWithONNXData([]byte("no model"), inputNames, outputNames, nil)
	refused(t, err)

	session := dynamicSession(t, nil)
	defer session.Destroy()
	run := func(input ort.Value) error {
		outputs := []ort.Value{nil}
		return session.Run([]ort.Value{input}, outputs)
	}
	refused(t, run(made(ort.NewEmptyTensor[float32](ort.NewShape(1, 1, 7, 7)))(t)), "image", "7", "8")
	refused(t, run(made(ort.NewEmptyTensor[float32](ort.NewShape(64)))(t)), "image")
	refused(t, run(made(ort.NewEmptyTensor[float64](ort.NewShape(1, 1, 8, 8)))(t)), "double", "float")
	if got := classify(t, session, 8); got != 8 {
		t.Errorf("8 is taken for %d", got)
	}

	misnamed := made(ort.NewDynamicAdvancedSession(digitsModel(), []string{"picture"}, outputNames, nil))(t)
	defer misnamed.Destroy()
	outputs := []ort.Value{nil}
	input := made(ort.NewTensor(ort.NewShape(1, 1, 8, 8), picture(t, 1)))(t)
	refused(t, misnamed.Run([]ort.Value{input}, outputs), "picture")
}

// The output that a program gives has another shape than the result.
func TestOutputOfAnotherShape(t *testing.T) {
	session := dynamicSession(t, nil)
	defer session.Destroy()
	input := made(ort.NewTensor(ort.NewShape(1, 1, 8, 8), picture(t, 1)))(t)
	output := made(ort.NewEmptyTensor[float32](ort.NewShape(2, 10)))(t)
	refused(t, session.Run([]ort.Value{input}, []ort.Value{output}), "10")
}
