// Runs.

package ortolan

import (
	"context"
	"strings"
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// Request says what a run reads and makes.
type Request struct {
	Inputs []*Value
	// InputNames are the names of the inputs, as many as there are. Nil: the model's first ones, in order. Initializers
	// may be among them; see Session.OverridableNames.
	InputNames []string
	// OutputNames are the names of the wanted outputs. Nil: as many of the model's first ones as there are Outputs, and
	// all where there are none.
	OutputNames []string
	// Outputs are values that the run writes in place, as many as are wanted; nil for those that it makes. They need the
	// type and shape of the result.
	Outputs []*Value
	Options *RunOptions // nil: the defaults
}

// Run runs the model on the inputs, in the model's order, and makes all outputs. The caller closes them.
func (s *Session) Run(inputs ...*Value) ([]*Value, error) {
	return s.Do(context.Background(), Request{Inputs: inputs})
}

// RunContext is Run until the context ends; then the run ends soon with an error that is the context's, too.
func (s *Session) RunContext(ctx context.Context, inputs ...*Value) ([]*Value, error) {
	return s.Do(ctx, Request{Inputs: inputs})
}

// RunNamed runs the model on inputs by name and makes the outputs of these names, all where there are none.
func (s *Session) RunNamed(ctx context.Context, inputs map[string]*Value, outputs ...string) (map[string]*Value, error) {
	request := Request{InputNames: make([]string, 0, len(inputs)), Inputs: make([]*Value, 0, len(inputs))}
	for name, value := range inputs {
		request.InputNames, request.Inputs = append(request.InputNames, name), append(request.Inputs, value)
	}
	names := s.fetches.words
	if len(outputs) > 0 {
		request.OutputNames, names = outputs, outputs
	}
	values, err := s.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	results := make(map[string]*Value, len(values))
	for i, value := range values {
		results[names[i]] = value
	}
	return results, nil
}

// Do runs the model as the request says, until the context ends. The outputs come in the order that was asked for; the
// caller closes those that the run made. On an error none are made.
func (s *Session) Do(ctx context.Context, request Request) ([]*Value, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	call := calls.Get().(*call)
	defer call.end()
	if err := call.prepare(s, &request); err != nil {
		return nil, err
	}
	if request.Options == nil && ctx.Done() == nil {
		call.run(s, 0)
		return call.results(request.Outputs, failure(call.numbers.status))
	}
	err := withRunOptions(ctx, request.Options, func(options uintptr) error {
		call.run(s, options)
		return failure(call.numbers.status)
	})
	return call.results(request.Outputs, err)
}

// call is what one call of the library reads and writes; calls are used again.
type call struct {
	numbers                   *callNumbers
	used                      []*object
	inputs, outputs           []uintptr
	inputChoice, outputChoice []int32
}

// callNumbers is the memory that C sees; nothing in it points into Go's.
type callNumbers struct {
	status                    uintptr
	inputs, outputs           [8]uintptr
	inputChoice, outputChoice [8]int32
}

var calls = sync.Pool{New: func() any { return &call{numbers: new(callNumbers)} }}

func (c *call) end() {
	for i, used := range c.used {
		used.done()
		c.used[i] = nil
	}
	*c.numbers = callNumbers{}
	*c = call{numbers: c.numbers, used: c.used[:0]}
	calls.Put(c)
}

func (c *call) prepare(s *Session, request *Request) (err error) {
	if request.InputNames != nil {
		if len(request.InputNames) != len(request.Inputs) {
			return refuse("there are %d names for %d inputs", len(request.InputNames), len(request.Inputs))
		}
		if c.inputChoice, err = s.feeds.choose(c.numbers.inputChoice[:0], "input", request.InputNames); err != nil {
			return err
		}
	}
	wanted := len(request.Outputs)
	if request.OutputNames != nil {
		if wanted != 0 && wanted != len(request.OutputNames) {
			return refuse("there are %d names for %d outputs", len(request.OutputNames), wanted)
		}
		wanted = len(request.OutputNames)
		if c.outputChoice, err = s.fetches.choose(c.numbers.outputChoice[:0], "output", request.OutputNames); err != nil {
			return err
		}
	} else if wanted == 0 {
		wanted = len(s.fetches.words)
	}
	c.inputs = c.numbers.inputs[:0]
	for i, input := range request.Inputs {
		if input == nil {
			return refuse("input %d is nil", i)
		}
		if err := c.use(input); err != nil {
			return err
		}
		c.inputs = append(c.inputs, input.address)
	}
	c.outputs = c.numbers.outputs[:0]
	for i := 0; i < wanted; i++ {
		address := uintptr(0)
		if i < len(request.Outputs) && request.Outputs[i] != nil {
			if err := c.use(request.Outputs[i]); err != nil {
				return err
			}
			address = request.Outputs[i].address
		}
		c.outputs = append(c.outputs, address)
	}
	return nil
}

func (c *call) use(value *Value) error {
	err := value.acquire()
	if err == nil {
		c.used = append(c.used, &value.object)
	}
	return err
}

// choose appends the indices of names to a choice.
func (n *names) choose(choice []int32, what string, chosen []string) ([]int32, error) {
	for _, name := range chosen {
		index, known := n.index[name]
		if !known {
			return nil, refuse("the model has no %s '%s'; it has %s", what, name, strings.Join(n.words, ", "))
		}
		choice = append(choice, index)
	}
	return choice, nil
}

func (c *call) run(s *Session, options uintptr) {
	native.Run_session(s.address, options, s.feeds.list, c.inputChoice, c.inputs, s.fetches.list, c.outputChoice,
		c.outputs, &c.numbers.status)
}

// results are the given outputs and owners of those that were made.
func (c *call) results(given []*Value, err error) ([]*Value, error) {
	if err != nil {
		return nil, err
	}
	values := make([]*Value, len(c.outputs))
	for i, address := range c.outputs {
		if i < len(given) && given[i] != nil {
			values[i] = given[i]
			continue
		}
		values[i], _ = newValue(address, nil)
	}
	return values, nil
}

// withRunOptions calls the library with options for one run, which the context cancels.
func withRunOptions(ctx context.Context, options *RunOptions, call func(options uintptr) error) error {
	if options == nil && ctx.Done() == nil {
		return call(0)
	}
	if reason := ctx.Err(); reason != nil {
		return &Error{Code: Fail, Message: "the run did not begin: " + reason.Error(), cause: reason}
	}
	run, err := options.begin()
	if err != nil {
		return err
	}
	defer options.end(run)
	stop := run.watch(ctx)
	err = call(run.address)
	stop()
	return run.explain(err)
}

// watch cancels the run when the context ends, until the function that it gives was called.
func (r *nativeRun) watch(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	over, watcher := make(chan struct{}), sync.WaitGroup{}
	watcher.Add(1)
	go func() {
		defer watcher.Done()
		select {
		case <-ctx.Done():
			r.cancel(ctx.Err())
		case <-over:
		}
	}()
	return func() {
		close(over)
		watcher.Wait()
	}
}

// explain puts the reason of a cancelation under the error that it led to.
func (r *nativeRun) explain(err error) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if failed, ok := err.(*Error); ok && r.reason != nil {
		failed.cause = r.reason
	}
	return err
}
