// Objects that many goroutines use and change at once.

package tests

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ortolan.org/ortolan"
)

// together calls each function again and again, all at once, and fails on the errors that they give.
func together(t *testing.T, rounds int, functions ...func(round int) error) {
	t.Helper()
	var all sync.WaitGroup
	for _, function := range functions {
		all.Add(1)
		go func(function func(round int) error) {
			defer all.Done()
			for round := 0; round < rounds; round++ {
				if err := function(round); err != nil {
					t.Error(err)
					return
				}
			}
		}(function)
	}
	all.Wait()
}

// closing closes what a call gives.
func closing[T interface{ Close() error }](object T, err error) error {
	if err != nil {
		return err
	}
	return object.Close()
}

func TestSharedOptions(t *testing.T) {
	options, log := newOptions(t), func(ortolan.LogLine) {}
	together(t, 50,
		func(round int) error { return options.AddSetting(fmt.Sprint("key", round), "value") },
		func(int) error { return options.SetLog(log) },
		func(int) error { return closing(options.Clone()) },
		func(int) error { return closing(ortolan.NewSession(modelPath("add"), options)) },
		func(int) error { return closing(ortolan.NewSession(modelPath("add"), options)) },
		func(int) error { _, _, err := options.Setting("key7"); return err },
		func(int) error {
			_, err := options.AppendProviders(ortolan.Provider{Name: "CUDA", Optional: true})
			return err
		})
}

func TestSharedBinding(t *testing.T) {
	binding := must[*ortolan.Binding](t)(open(t, "add", nil).NewBinding())
	defer binding.Close()
	a, b := floats(t, 1, 2), floats(t, 3, 4)
	check(t, binding.BindInput("a", a))
	check(t, binding.BindInput("b", b))
	cpu := must[*ortolan.Memory](t)(ortolan.NewMemory("Cpu", 0))
	check(t, binding.BindOutputToMemory("sum", cpu))
	together(t, 200,
		func(int) error { return binding.BindInput("a", a) },
		func(int) error { return binding.BindInput("a", b) },
		func(int) error { return binding.BindOutputToMemory("sum", cpu) },
		func(int) error { return binding.Run() },
		func(int) error { return binding.Run() },
		func(int) error {
			outputs, err := binding.Outputs()
			for _, output := range outputs {
				output.Close()
			}
			return err
		},
		func(int) error { _, err := binding.OutputNames(); return err })
}

func TestSharedSession(t *testing.T) {
	session, input := open(t, "mlp", nil), tensor(t, make([]float32, 32), 1, 32)
	want := dataOf[float32](t, must[[]*ortolan.Value](t)(session.Run(input))[0])
	run := func(int) error {
		outputs, err := session.Run(input)
		if err != nil {
			return err
		}
		defer outputs[0].Close()
		got, err := ortolan.Data[float32](outputs[0])
		if err == nil && got[31] != want[31] {
			err = fmt.Errorf("got %g, want %g", got[31], want[31])
		}
		return err
	}
	describe := func(int) error { _, err := session.Inputs(); return err }
	shape := func(int) error { _, err := input.Shape(); return err }
	together(t, 200, run, run, run, describe, shape, shape)
}

// Devices come and go while others ask for them: they are refused, or they work.
func TestSharedEnvironment(t *testing.T) {
	environment := must[*ortolan.Environment](t)(ortolan.DefaultEnvironment())
	device := registerExample(t, environment)
	check(t, environment.UnregisterProviderLibrary("example"))
	refusedOrDone := func(err error) error {
		var failed *ortolan.Error
		if errors.As(err, &failed) && failed.Code == ortolan.InvalidArgument {
			return nil
		}
		return err
	}
	library := exampleLibrary()
	together(t, 20,
		func(int) error {
			if err := environment.RegisterProviderLibrary("example", library); err != nil {
				return err
			}
			return environment.UnregisterProviderLibrary("example")
		},
		func(int) error {
			devices, err := environment.Devices()
			for _, device := range devices {
				options, err := ortolan.NewSessionOptions()
				if err != nil {
					return err
				}
				if err := refusedOrDone(options.AppendDevices(nil, device)); err != nil {
					return err
				}
				options.Close()
			}
			return err
		},
		func(int) error { _, err := device.Memory(false); return refusedOrDone(err) })
}

func TestCancelManyRuns(t *testing.T) {
	session, input, options := open(t, "endless", nil), floats(t, 0), &ortolan.RunOptions{}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, options.Terminate)
	time.AfterFunc(100*time.Millisecond, cancel)
	run := func(int) error {
		_, err := session.Do(ctx, ortolan.Request{Inputs: []*ortolan.Value{input}, Options: options})
		if errors.Is(err, ortolan.ErrCanceled) || errors.Is(err, context.Canceled) {
			return nil
		}
		return fmt.Errorf("the run gave %w", err)
	}
	together(t, 3, run, run, run)
}
