// Sessions: opening them, what models say about themselves, options and profiles.

package tests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ortolan.org/ortolan"
)

func newOptions(t testing.TB) *ortolan.SessionOptions {
	t.Helper()
	options := must[*ortolan.SessionOptions](t)(ortolan.NewSessionOptions())
	t.Cleanup(func() { options.Close() })
	return options
}

func TestSessionsFromBytes(t *testing.T) {
	model := must[[]byte](t)(os.ReadFile(modelPath("add")))
	session := must[*ortolan.Session](t)(ortolan.NewSessionFromBytes(model, nil))
	defer session.Close()
	for i := range model {
		model[i] = 0
	}
	outputs := must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	equal(t, dataOf[float32](t, outputs[0]), []float32{3})
	options := newOptions(t)
	check(t, options.AddSetting("session.use_ort_model_bytes_directly", "1"))
	_, err := ortolan.NewSessionFromBytes(model, options)
	refused(t, err, ortolan.InvalidArgument, "memory of Go's")
}

func TestSessionErrors(t *testing.T) {
	_, err := ortolan.NewSession("/no/such/model.onnx", nil)
	refused(t, err, ortolan.NoSuchFile, "/no/such/model.onnx")
	equal(t, strings.HasPrefix(err.Error(), "ortolan: "), true)
	_, err = ortolan.NewSession(modelPath("broken"), nil)
	refused(t, err, ortolan.InvalidProtobuf, "broken.onnx")
	_, err = ortolan.NewSessionFromBytes([]byte("x"), nil)
	refused(t, err, ortolan.InvalidProtobuf, "the file is damaged")
	_, err = ortolan.NewSessionFromBytes(nil, nil)
	refused(t, err, ortolan.InvalidArgument, "the model is empty")
	_, err = ortolan.NewSession("a\x00b", nil)
	refused(t, err, ortolan.InvalidArgument, "zero byte")
}

func TestInputsAndOutputs(t *testing.T) {
	session := open(t, "add", nil)
	equal(t, session.InputNames(), []string{"a", "b"})
	equal(t, session.OutputNames(), []string{"sum", "scaled"})
	equal(t, session.OverridableNames(), []string{"factor"})
	inputs := must[[]ortolan.ValueInfo](t)(session.Inputs())
	equal(t, *inputs[0].Type, ortolan.TypeInfo{Kind: ortolan.TensorKind, Element: ortolan.Float32Type,
		Shape: []int64{-1}, Symbols: []string{"n"}})
	equal(t, must[[]ortolan.ValueInfo](t)(session.Outputs())[1].Name, "scaled")
	factor := must[[]ortolan.ValueInfo](t)(session.OverridableInitializers())
	equal(t, factor[0].Name, "factor")
	equal(t, factor[0].Type.String(), "tensor(float32, [1])")
	maps := must[[]ortolan.ValueInfo](t)(open(t, "zip_map_words", nil).Outputs())
	equal(t, maps[0].Type.String(), "sequence(map(string, tensor(float32, [])))")
	rows := must[[]ortolan.ValueInfo](t)(open(t, "identity_bool", nil).Inputs())
	equal(t, rows[0].Type.String(), "tensor(bool, [rows, columns])")
	names := session.InputNames()
	names[0] = "changed"
	equal(t, session.InputNames()[0], "a")
}

func TestMetadata(t *testing.T) {
	metadata := must[*ortolan.Metadata](t)(open(t, "add", nil).Metadata())
	equal(t, *metadata, ortolan.Metadata{Producer: "ortolan-tests", GraphName: "add_graph",
		GraphDescription: "two nodes", Domain: "org.ortolan.tests", Description: "adds – and scales", Version: 7,
		Custom: map[string]string{"author": "Ørtolan", "empty": ""}})
}

func TestOptionSettings(t *testing.T) {
	options, folder := newOptions(t), t.TempDir()
	check(t, options.SetOptimizationLevel(ortolan.OptimizeBasic))
	check(t, options.SetExecutionMode(ortolan.Parallel))
	check(t, options.SetIntraOpThreads(2))
	check(t, options.SetInterOpThreads(2))
	check(t, options.SetMemoryPattern(false))
	check(t, options.SetCPUArena(false))
	check(t, options.SetLogID("id"))
	check(t, options.SetLogSeverity(ortolan.LogError))
	check(t, options.SetLogVerbosity(1))
	check(t, options.SetDeterministic(true))
	check(t, options.SetOptimizedModelPath(filepath.Join(folder, "optimized.onnx")))
	check(t, options.AddSetting("session.intra_op.allow_spinning", "0"))
	check(t, options.AddFreeDimensionByName("n", 2))
	check(t, options.AddFreeDimension("DATA_BATCH", 2))
	clone := must[*ortolan.SessionOptions](t)(options.Clone())
	check(t, options.Close())
	value, set, err := clone.Setting("session.intra_op.allow_spinning")
	equal(t, []any{value, set, err}, []any{"0", true, nil})
	value, set, err = clone.Setting("absent")
	equal(t, []any{value, set, err}, []any{"", false, nil})
	session := open(t, "add", clone)
	inputs := must[[]ortolan.ValueInfo](t)(session.Inputs())
	equal(t, inputs[0].Type.Shape, []int64{2})
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1, 2), floats(t, 1, 2)))
	must[os.FileInfo](t)(os.Stat(filepath.Join(folder, "optimized.onnx")))
	check(t, clone.Close())
}

func TestWrongSettings(t *testing.T) {
	options := newOptions(t)
	refused(t, options.SetOptimizationLevel(17), ortolan.InvalidArgument, "17")
	refused(t, options.SetExecutionMode(9), ortolan.InvalidArgument, "9")
	refused(t, options.SetLogSeverity(9), ortolan.InvalidArgument, "9")
	refused(t, options.SetDevicePolicy(99), ortolan.InvalidArgument, "99")
	refused(t, options.AddSetting("k\x00ey", "value"), ortolan.InvalidArgument, "zero byte")
	refused(t, options.AddSetting("key", "\x00"), ortolan.InvalidArgument, "zero byte")
	refused(t, options.AddInitializer("factor", nil), ortolan.InvalidArgument, "initializer 'factor'")
	err := options.RegisterCustomOperators("/no/such/library.so")
	refused(t, err, ortolan.Fail, "/no/such/library.so")
}

func TestInitializers(t *testing.T) {
	options, factor := newOptions(t), floats(t, 10)
	check(t, options.AddInitializer("factor", factor))
	check(t, factor.Close())
	session := open(t, "add", options)
	check(t, options.Close())
	collect()
	outputs := must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	equal(t, dataOf[float32](t, outputs[1]), []float32{30})
}

func TestProfiles(t *testing.T) {
	options := newOptions(t)
	check(t, options.EnableProfiling(filepath.Join(t.TempDir(), "profile")))
	session := open(t, "add", options)
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	start := must[uint64](t)(session.ProfilingStart())
	equal(t, start > 0, true)
	file := must[string](t)(session.EndProfiling())
	content := string(must[[]byte](t)(os.ReadFile(file)))
	equal(t, strings.Contains(content, "adder"), true)
	check(t, options.DisableProfiling())
	equal(t, must[string](t)(open(t, "add", options).EndProfiling()), "")
}

func TestNodeAssignments(t *testing.T) {
	options := newOptions(t)
	check(t, options.RecordNodeAssignments())
	check(t, options.SetOptimizationLevel(ortolan.OptimizeNothing))
	assignments := must[[]ortolan.NodeAssignment](t)(open(t, "add", options).NodeAssignments())
	equal(t, assignments, []ortolan.NodeAssignment{{Provider: ortolan.CPUProvider, Node: "adder",
		Operator: "Add"}, {Provider: ortolan.CPUProvider, Node: "scaler", Operator: "Mul"}})
	_, err := open(t, "add", nil).NodeAssignments()
	refused(t, err, ortolan.InvalidArgument, "session.record_ep_graph_assignment_info")
}

func TestRunOptionSettings(t *testing.T) {
	session, verbose := open(t, "add", nil), ortolan.LogVerbose
	request := ortolan.Request{Inputs: []*ortolan.Value{floats(t, 1), floats(t, 2)}}
	request.Options = &ortolan.RunOptions{Tag: "tag", Verbosity: 1, Settings: map[string]string{"key": "value"}}
	must[[]*ortolan.Value](t)(session.Do(context.Background(), request))
	request.Options = &ortolan.RunOptions{Severity: &verbose}
	must[[]*ortolan.Value](t)(session.Do(context.Background(), request))
	wrong := ortolan.LogSeverity(17)
	request.Options = &ortolan.RunOptions{Severity: &wrong}
	_, err := session.Do(context.Background(), request)
	refused(t, err, ortolan.InvalidArgument, "17")
	request.Options = &ortolan.RunOptions{Tag: "a\x00b"}
	_, err = session.Do(context.Background(), request)
	refused(t, err, ortolan.InvalidArgument, "zero byte")
}
