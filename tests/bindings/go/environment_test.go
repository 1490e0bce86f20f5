// Environments: logs, threads, providers and their devices.

package tests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ortolan.org/ortolan"
)

const example = "ExampleKernelExecutionProvider"

// freshEnvironment makes an environment that is the first of the process again: earlier ones are closed.
func freshEnvironment(t testing.TB, options *ortolan.EnvironmentOptions) *ortolan.Environment {
	t.Helper()
	check(t, must[*ortolan.Environment](t)(ortolan.DefaultEnvironment()).Close())
	collect()
	environment := must[*ortolan.Environment](t)(ortolan.NewEnvironment(options))
	t.Cleanup(func() { environment.Close() })
	return environment
}

func TestLibrary(t *testing.T) {
	equal(t, strings.HasPrefix(ortolan.Version(), "1.31."), true)
	equal(t, strings.Contains(strings.ToLower(ortolan.BuildInfo()), "ortolan"), true)
	equal(t, must[[]string](t)(ortolan.AvailableProviders()), []string{ortolan.CPUProvider})
}

// logged collects log lines.
type logged struct {
	sync.Mutex
	lines []ortolan.LogLine
}

func (l *logged) add(line ortolan.LogLine) {
	l.Lock()
	defer l.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logged) count(severity ortolan.LogSeverity) (count int) {
	l.Lock()
	defer l.Unlock()
	for _, line := range l.lines {
		if line.Severity == severity {
			count++
		}
	}
	return count
}

func TestEnvironmentLog(t *testing.T) {
	log := &logged{}
	options := &ortolan.EnvironmentOptions{Severity: ortolan.LogVerbose, LogID: "gø", Log: log.add}
	environment := freshEnvironment(t, options)
	session := must[*ortolan.Session](t)(environment.NewSession(modelPath("add"), nil))
	before := log.count(ortolan.LogVerbose) + log.count(ortolan.LogInfo)
	equal(t, before > 0, true)
	equal(t, log.lines[0].LogID != "" && log.lines[0].Location != "" && log.lines[0].Message != "", true)
	equal(t, log.lines[0].Severity.String() == "verbose" || log.lines[0].Severity.String() == "info", true)
	check(t, session.Close())
	check(t, environment.SetSeverity(ortolan.LogError))
	session = must[*ortolan.Session](t)(environment.NewSession(modelPath("add"), nil))
	check(t, session.Close())
	refused(t, environment.SetSeverity(17), ortolan.InvalidArgument, "17")
}

func TestLogOutlivesTheEnvironment(t *testing.T) {
	log := &logged{}
	environment := freshEnvironment(t, &ortolan.EnvironmentOptions{Severity: ortolan.LogVerbose, Log: log.add})
	second := must[*ortolan.Environment](t)(ortolan.NewEnvironment(nil))
	check(t, environment.Close())
	collect()
	before := len(log.lines)
	session := must[*ortolan.Session](t)(second.NewSession(modelPath("add"), nil))
	equal(t, len(log.lines) > before, true)
	check(t, second.Close())
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	check(t, session.Close())
}

func TestSessionLog(t *testing.T) {
	options, log := newOptions(t), &logged{}
	check(t, options.SetLog(log.add))
	check(t, options.SetLogSeverity(ortolan.LogVerbose))
	clone := must[*ortolan.SessionOptions](t)(options.Clone())
	check(t, options.SetLog(nil))
	check(t, options.Close())
	collect()
	session := open(t, "add", clone)
	check(t, clone.Close())
	collect()
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	equal(t, len(log.lines) > 0, true)
}

func TestLogFunctionsMayPanic(t *testing.T) {
	options := newOptions(t)
	check(t, options.SetLog(func(ortolan.LogLine) { panic("of the test") }))
	check(t, options.SetLogSeverity(ortolan.LogVerbose))
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = must[*os.File](t)(os.Create(filepath.Join(t.TempDir(), "stderr")))
	session := open(t, "add", options)
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	text := string(must[[]byte](t)(os.ReadFile(os.Stderr.Name())))
	equal(t, strings.HasPrefix(text, "ortolan: a log function panicked: of the test\n"), true)
}

func TestSharedThreads(t *testing.T) {
	environment := freshEnvironment(t, &ortolan.EnvironmentOptions{Severity: ortolan.LogWarning,
		Threads: &ortolan.ThreadPools{IntraOp: 2, InterOp: 1}})
	options := newOptions(t)
	check(t, options.DisableSessionThreads())
	session := must[*ortolan.Session](t)(environment.NewSession(modelPath("add"), options))
	defer session.Close()
	outputs := must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	equal(t, dataOf[float32](t, outputs[0]), []float32{3})
}

func TestAbsentProviders(t *testing.T) {
	options := newOptions(t)
	refused(t, options.AppendProvider("NoSuchExecutionProvider", nil), ortolan.InvalidArgument,
		"NoSuchExecutionProvider")
	refused(t, options.AppendProvider("CUDA", nil), ortolan.Fail, "CUDA execution provider is not available")
	_, err := options.AppendProviders(ortolan.Provider{Name: "CUDAExecutionProvider"})
	refused(t, err, ortolan.Fail, "CUDA")
	appended := must[[]string](t)(options.AppendProviders(
		ortolan.Provider{Name: "CUDAExecutionProvider", Settings: map[string]string{"device_id": "0"}, Optional: true},
		ortolan.Provider{Name: ortolan.CPUProvider}))
	equal(t, appended, []string{ortolan.CPUProvider})
	open(t, "add", options)
	refused(t, options.AppendProvider("CPUExecutionProvider", map[string]string{"a\x00": ""}), ortolan.InvalidArgument,
		"zero byte")

	environment := must[*ortolan.Environment](t)(ortolan.DefaultEnvironment())
	defer environment.ClearProviders()
	check(t, environment.AppendProvider(ortolan.Provider{Name: "NoSuchExecutionProvider", Optional: true}))
	open(t, "add", nil)
	check(t, environment.ClearProviders())
	check(t, environment.AppendProvider(ortolan.Provider{Name: "NoSuchExecutionProvider"}))
	_, err = environment.NewSession(modelPath("add"), nil)
	refused(t, err, ortolan.Fail, "NoSuchExecutionProvider")
	check(t, environment.ClearProviders())
	open(t, "add", nil)
}

func exampleLibrary() string {
	return filepath.Join(os.Getenv("ORTOLAN_TEST_PLUGINS"), "libonnxruntime_ep_example.so")
}

// registerExample registers the example provider and gives its device.
func registerExample(t testing.TB, environment *ortolan.Environment) *ortolan.Device {
	t.Helper()
	check(t, environment.RegisterProviderLibrary("example", exampleLibrary()))
	for _, device := range must[[]*ortolan.Device](t)(environment.Devices()) {
		if device.Provider == example {
			return device
		}
	}
	t.Fatal("the example provider has no device")
	return nil
}

func TestPluginDevices(t *testing.T) {
	environment := must[*ortolan.Environment](t)(ortolan.DefaultEnvironment())
	device := registerExample(t, environment)
	equal(t, device.ProviderVendor != "", true)
	equal(t, device.Hardware.Type.String() != "unknown", true)

	options := newOptions(t)
	check(t, options.RecordNodeAssignments())
	check(t, options.AppendDevices(nil, device))
	session := open(t, "add", options)
	equal(t, must[[]ortolan.NodeAssignment](t)(session.NodeAssignments())[0].Provider, example)

	named := newOptions(t)
	check(t, named.RecordNodeAssignments())
	appended := must[[]string](t)(named.AppendProviders(ortolan.Provider{Name: example, Optional: true}))
	equal(t, appended, []string{example})
	equal(t, must[[]ortolan.NodeAssignment](t)(open(t, "add", named).NodeAssignments())[0].Provider, example)
	check(t, newOptions(t).SetDevicePolicy(ortolan.PreferCPU))

	check(t, environment.UnregisterProviderLibrary("example"))
	refused(t, newOptions(t).AppendDevices(nil, device), ortolan.InvalidArgument, "is not registered any more")
	_, err := device.Memory(false)
	refused(t, err, ortolan.InvalidArgument, "is not registered any more")
	refused(t, newOptions(t).AppendDevices(nil), ortolan.InvalidArgument, "there must be a device")
	must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	refused(t, environment.UnregisterProviderLibrary("example"), ortolan.Fail, "'example'")
	err = environment.RegisterProviderLibrary("none", "/no/such/library.so")
	refused(t, err, ortolan.Fail, "/no/such/library.so")
}

func TestDeviceMemory(t *testing.T) {
	environment := must[*ortolan.Environment](t)(ortolan.DefaultEnvironment())
	device := registerExample(t, environment)
	defer environment.UnregisterProviderLibrary("example")
	memory := must[*ortolan.Memory](t)(device.Memory(false))
	if memory == nil {
		t.Fatal("the example's device has no memory of its own")
	}
	there := must[*ortolan.Value](t)(environment.NewTensorOnDevice(memory, ortolan.Float32Type, 2))
	defer there.Close()
	check(t, environment.CopyTensor(floats(t, 3, 4), there))
	back := floats(t, 0, 0)
	check(t, environment.CopyTensor(there, back))
	equal(t, dataOf[float32](t, back), []float32{3, 4})
	where := must[*ortolan.Memory](t)(there.Memory())
	equal(t, where.Name, memory.Name)
	if where.DeviceType != ortolan.MemoryOfCPU {
		_, err := ortolan.Data[float32](there)
		refused(t, err, ortolan.InvalidArgument, "in the memory of a device")
		err = ortolan.WithData(there, func([]float32) error { return nil })
		refused(t, err, ortolan.InvalidArgument, "of a device")
		refused(t, there.SetBytes(make([]byte, 8)), ortolan.InvalidArgument, "of a device")
	}
	cpu := must[*ortolan.Memory](t)(ortolan.NewMemory("Cpu", 0))
	equal(t, cpu.DeviceType, ortolan.MemoryOfCPU)
	_, err := ortolan.NewMemory("NoSuchMemory", 0)
	refused(t, err, ortolan.InvalidArgument, "NoSuchMemory")
	_, err = environment.NewTensorOnDevice(nil, ortolan.Float32Type, 2)
	refused(t, err, ortolan.InvalidArgument, "there must be a memory")
	refused(t, environment.CopyTensor(nil, back), ortolan.InvalidArgument, "there must be two tensors")
	refused(t, environment.CopyTensor(floats(t, 1), back), ortolan.InvalidArgument, "float[1] into one of float[2]")
}

func TestBindings(t *testing.T) {
	session := open(t, "add", nil)
	binding := must[*ortolan.Binding](t)(session.NewBinding())
	defer binding.Close()
	a, sum := floats(t, 1, 2), floats(t, 0, 0)
	check(t, binding.BindInput("a", a))
	check(t, a.Close())
	check(t, binding.BindInput("b", floats(t, 3, 4)))
	check(t, binding.BindOutput("sum", sum))
	check(t, binding.BindOutputToMemory("scaled", must[*ortolan.Memory](t)(session.OutputMemory(1))))
	equal(t, must[*ortolan.Memory](t)(session.InputMemory(0)).Name, "Cpu")
	check(t, binding.SynchronizeInputs())
	check(t, binding.Run())
	check(t, binding.SynchronizeOutputs())
	equal(t, dataOf[float32](t, sum), []float32{4, 6})
	equal(t, must[[]string](t)(binding.OutputNames()), []string{"sum", "scaled"})
	outputs := must[[]*ortolan.Value](t)(binding.Outputs())
	equal(t, dataOf[float32](t, outputs[1]), []float32{8, 12})
	check(t, binding.RunContext(context.Background(), &ortolan.RunOptions{Tag: "bound"}))

	refused(t, binding.BindInput("a", nil), ortolan.InvalidArgument, "there must be a value for 'a'")
	refused(t, binding.BindInput("nothing", sum), ortolan.InvalidArgument, "nothing")
	refused(t, binding.BindOutputToMemory("sum", nil), ortolan.InvalidArgument, "there must be a memory for 'sum'")
	_, err := session.OutputMemory(2)
	refused(t, err, ortolan.InvalidArgument, "no input or output of that index")
	check(t, binding.ClearOutputs())
	equal(t, must[[]string](t)(binding.OutputNames()), []string{})
	equal(t, must[[]*ortolan.Value](t)(binding.Outputs()), []*ortolan.Value{})
	check(t, binding.ClearInputs())
	refused(t, binding.Run(), ortolan.InvalidArgument, "input 'a' is missing")
	check(t, session.Close())
	refused(t, binding.Run(), ortolan.InvalidArgument, "the session is closed")
}
