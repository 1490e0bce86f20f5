// Lifetimes: closing in every order, use after close, and what the garbage collector does.

package tests

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"ortolan.org/ortolan"
)

// collect runs the garbage collector and the finalizers that it finds.
func collect() {
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}

// isClosed checks that every call fails because the object is closed.
func isClosed(t *testing.T, failures ...error) {
	t.Helper()
	for i, err := range failures {
		var failed *ortolan.Error
		if !errors.Is(err, ortolan.ErrClosed) || !errors.As(err, &failed) {
			t.Fatalf("call %d gives %v", i, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestClosedSession(t *testing.T) {
	session := open(t, "add", nil)
	check(t, session.Close())
	check(t, session.Close())
	isClosed(t, second(session.Run()), second(session.Inputs()), second(session.Outputs()),
		second(session.OverridableInitializers()), second(session.Metadata()), second(session.NewBinding()),
		second(session.EndProfiling()), second(session.ProfilingStart()), second(session.NodeAssignments()),
		second(session.InputMemory(0)), second(session.OutputMemory(0)))
	equal(t, session.InputNames(), []string{"a", "b"})
}

func TestClosedOptions(t *testing.T) {
	options := newOptions(t)
	check(t, options.Close())
	check(t, options.Close())
	_, _, err := options.Setting("key")
	_, optional := options.AppendProviders(ortolan.Provider{Name: "NoSuchExecutionProvider", Optional: true})
	isClosed(t, err, optional, options.SetIntraOpThreads(1), options.AddSetting("key", "value"),
		options.SetLog(func(ortolan.LogLine) {}), options.AddInitializer("factor", floats(t, 1)),
		second(options.Clone()), second(ortolan.NewSession(modelPath("add"), options)))
}

func TestClosedEnvironment(t *testing.T) {
	environment := must[*ortolan.Environment](t)(ortolan.NewEnvironment(nil))
	check(t, environment.Close())
	check(t, environment.Close())
	isClosed(t, second(environment.NewSession(modelPath("add"), nil)), second(environment.Devices()),
		second(environment.NewSessionFromBytes([]byte("x"), nil)), environment.SetSeverity(ortolan.LogWarning),
		environment.RegisterProviderLibrary("a", "b"), environment.AppendProvider(ortolan.Provider{Name: "CPU"}),
		environment.CopyTensor(floats(t, 1), floats(t, 1)))
	check(t, must[*ortolan.Environment](t)(ortolan.DefaultEnvironment()).Close())
	open(t, "add", nil)
}

func TestClosedValue(t *testing.T) {
	value, session := floats(t, 1), open(t, "add", nil)
	memory := must[*ortolan.Memory](t)(value.Memory())
	check(t, value.Close())
	check(t, value.Close())
	isClosed(t, second(value.Shape()), second(value.ElementType()), second(value.Bytes()), second(value.Kind()),
		second(value.Type()), second(value.HasValue()), second(value.Len()), second(value.At(0)), second(value.All()),
		second(value.Memory()), value.SetBytes(nil), ortolan.Read(value, make([]float32, 1)),
		ortolan.Write(value, []float32{1}), ortolan.WithData(value, func([]float32) error { return nil }),
		second(ortolan.Data[float32](value)), second(session.Run(value, floats(t, 1))),
		second(ortolan.NewSequence(floats(t, 1), value)), second(ortolan.NewMap(value, value)))
	binding := must[*ortolan.Binding](t)(session.NewBinding())
	isClosed(t, binding.BindInput("a", value), binding.BindOutputToMemory("sum", memory))
	check(t, binding.Close())
	check(t, binding.Close())
	isClosed(t, binding.Run(), binding.BindInput("a", floats(t, 1)), binding.ClearInputs(), second(binding.Outputs()),
		second(binding.OutputNames()), binding.SynchronizeInputs())
	var never ortolan.Value
	isClosed(t, second(never.Shape()), second(session.Run(&never)))
	check(t, never.Close())
}

func TestParentsMayCloseFirst(t *testing.T) {
	environment := must[*ortolan.Environment](t)(ortolan.NewEnvironment(nil))
	options := newOptions(t)
	session := must[*ortolan.Session](t)(environment.NewSession(modelPath("add"), options))
	check(t, environment.Close())
	check(t, options.Close())
	collect()
	outputs := must[[]*ortolan.Value](t)(session.Run(floats(t, 1), floats(t, 2)))
	check(t, session.Close())
	collect()
	equal(t, dataOf[float32](t, outputs[0]), []float32{3})
}

func TestCloseDuringARun(t *testing.T) {
	session, input := open(t, "endless", nil), floats(t, 0)
	options := &ortolan.RunOptions{}
	ended := make(chan error)
	go func() {
		_, err := session.Do(context.Background(), ortolan.Request{Inputs: []*ortolan.Value{input}, Options: options})
		ended <- err
	}()
	time.Sleep(30 * time.Millisecond)
	check(t, input.Close())
	check(t, session.Close())
	isClosed(t, second(session.Run(input)))
	collect()
	time.Sleep(30 * time.Millisecond)
	options.Terminate()
	equal(t, errors.Is(<-ended, ortolan.ErrCanceled), true)
}

func TestLostObjectsAreCollected(t *testing.T) {
	const size = 1 << 20
	before := residentKiB(t)
	for i := 0; i < 300; i++ {
		must[*ortolan.Value](t)(ortolan.NewTensor(make([]float32, size), size))
		if i%10 == 0 {
			collect()
		}
	}
	collect()
	if grown := residentKiB(t) - before; grown > 300<<10 {
		t.Fatalf("300 lost tensors of 4 MiB took %d MiB", grown>>10)
	}
	for i := 0; i < 20; i++ {
		must[*ortolan.Session](t)(ortolan.NewSession(modelPath("mlp"), nil))
		collect()
	}
}
