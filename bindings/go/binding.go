// Bindings: inputs and outputs that stay bound over many runs.

package ortolan

import (
	"context"
	"runtime"
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// Binding holds the inputs and outputs of a session's runs, in whatever memory they are.
type Binding struct {
	object
	session *Session
	mutex   sync.Mutex // one run or change at a time
}

var bindingClass = &class{"binding", native.Release_binding}

// NewBinding makes an empty binding.
func (s *Session) NewBinding() (*Binding, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	var status uintptr
	address := native.Create_binding(s.address, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	binding := &Binding{session: s}
	binding.init(bindingClass, address, &s.object)
	runtime.SetFinalizer(binding, (*Binding).Close)
	return binding, nil
}

// Close gives the binding back; values that it made stay. It always returns nil.
func (b *Binding) Close() error {
	if b.address != 0 {
		runtime.SetFinalizer(b, nil)
	}
	b.close()
	return nil
}

// change calls the library with the binding while no other goroutine uses it.
func (b *Binding) change(call func(address uintptr, status *uintptr)) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.use(call)
}

// bind calls the library with a name and a value.
func (b *Binding) bind(name string, value *Value, call func(binding uintptr, name *byte, value uintptr,
	status *uintptr)) error {
	text, err := textFor(name)
	if err != nil {
		return err
	}
	if value == nil {
		return refuse("there must be a value for '%s'", name)
	}
	if err := value.acquire(); err != nil {
		return err
	}
	defer value.done()
	return b.change(func(address uintptr, status *uintptr) { call(address, text, value.address, status) })
}

// BindInput gives an input a value, which the binding shares.
func (b *Binding) BindInput(name string, value *Value) error {
	return b.bind(name, value, native.Bind_input)
}

// BindOutput gives an output a value, which runs write in place and the binding shares.
func (b *Binding) BindOutput(name string, value *Value) error {
	return b.bind(name, value, native.Bind_output)
}

// BindOutputToMemory lets each run make an output in that memory.
func (b *Binding) BindOutputToMemory(name string, memory *Memory) error {
	text, err := textFor(name)
	if err != nil {
		return err
	}
	if memory == nil {
		return refuse("there must be a memory for '%s'", name)
	}
	var failed error
	err = memory.with(func(memory uintptr, _ *uintptr) {
		failed = b.change(func(address uintptr, status *uintptr) {
			native.Bind_output_to_memory(address, text, memory, status)
		})
	})
	if err != nil {
		return err
	}
	return failed
}

// ClearInputs takes the inputs back.
func (b *Binding) ClearInputs() error {
	return b.change(func(address uintptr, _ *uintptr) { native.Clear_bound_inputs(address) })
}

// ClearOutputs takes the outputs back.
func (b *Binding) ClearOutputs() error {
	return b.change(func(address uintptr, _ *uintptr) { native.Clear_bound_outputs(address) })
}

// SynchronizeInputs waits until the inputs are where they are wanted.
func (b *Binding) SynchronizeInputs() error { return b.change(native.Synchronize_inputs) }

// SynchronizeOutputs waits until devices have written the outputs.
func (b *Binding) SynchronizeOutputs() error { return b.change(native.Synchronize_outputs) }

// OutputNames lists the bound outputs in the order they were bound.
func (b *Binding) OutputNames() (names []string, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if err := b.acquire(); err != nil {
		return nil, err
	}
	defer b.done()
	var status uintptr
	return takeTexts(native.Bound_output_names(b.address, &status), status)
}

// Outputs are the outputs of the last run, in the order they were bound. The caller closes them.
func (b *Binding) Outputs() ([]*Value, error) {
	var addresses []uintptr
	err := b.change(func(address uintptr, status *uintptr) {
		count := native.Bound_outputs(address, nil, status)
		if *status == 0 && count > 0 {
			addresses = make([]uintptr, count)
			native.Bound_outputs(address, addresses, status)
		}
	})
	if err != nil {
		return nil, err
	}
	values := make([]*Value, len(addresses))
	for i, address := range addresses {
		values[i], _ = newValue(address, nil)
	}
	return values, nil
}

// Run runs the session on what is bound.
func (b *Binding) Run() error { return b.RunContext(context.Background(), nil) }

// RunContext runs the session on what is bound until the context ends. Options may be nil.
func (b *Binding) RunContext(ctx context.Context, options *RunOptions) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if err := acquireAll(&b.session.object, &b.object); err != nil {
		return err
	}
	defer doneAll(&b.session.object, &b.object)
	return withRunOptions(ctx, options, func(options uintptr) error {
		var status uintptr
		native.Run_binding(b.session.address, options, b.address, &status)
		return failure(status)
	})
}
