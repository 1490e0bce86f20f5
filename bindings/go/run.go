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
	// Outputs are values that the run writes in place, as many as are wanted; nil for those that it makes. They need
	// the type and shape of the result.
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
func (s *Session) RunNamed(ctx context.Context, inputs map[string]*Value, outputs ...string) (map[string]*Value,
	error) {
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
	call := s.begin()
	defer call.end()
	if err := call.prepare(&request); err != nil {
		return nil, err
	}
	err := withRunOptions(ctx, request.Options, call.run)
	return call.results(request.Outputs, err)
}

// call is one run: what the library reads and writes, and the values in use. Calls are used again.
type call struct {
	session                     *Session
	frame                       *native.Frame
	inputs, outputs             int
	chosenInputs, chosenOutputs bool
	used                        []*object
}

// begin makes a call for a session that is in use.
func (s *Session) begin() *call {
	if idle, _ := s.idleCalls.Get().(*call); idle != nil {
		idle.session = s
		return idle
	}
	return &call{session: s, frame: native.NewFrame(len(s.feeds.words), len(s.fetches.words))}
}

func (c *call) end() {
	for i, used := range c.used {
		used.done()
		c.used[i] = nil
	}
	idleCalls := &c.session.idleCalls
	*c = call{frame: c.frame, used: c.used[:0]}
	idleCalls.Put(c)
}

// prepare checks the request and writes it to the frame.
func (c *call) prepare(request *Request) (err error) {
	if c.inputs = len(request.Inputs); c.inputs > len(c.frame.Inputs) {
		return refuse("there are %d inputs; the model has %s", c.inputs, &c.session.feeds)
	}
	if c.chosenInputs = request.InputNames != nil; c.chosenInputs {
		if len(request.InputNames) != c.inputs {
			return refuse("there are %d names for %d inputs", len(request.InputNames), c.inputs)
		}
		if err := c.session.feeds.choose(c.frame.InputChoice, "input", request.InputNames); err != nil {
			return err
		}
	}
	if err := c.prepareOutputs(request); err != nil {
		return err
	}
	for i, input := range request.Inputs {
		if input == nil {
			return refuse("input %d is nil", i)
		}
		if err := c.use(input); err != nil {
			return err
		}
		c.frame.Inputs[i] = input.address
	}
	return nil
}

func (c *call) prepareOutputs(request *Request) error {
	c.outputs = len(request.Outputs)
	if c.chosenOutputs = request.OutputNames != nil; c.chosenOutputs {
		if c.outputs != 0 && c.outputs != len(request.OutputNames) {
			return refuse("there are %d names for %d outputs", len(request.OutputNames), c.outputs)
		}
		c.outputs = len(request.OutputNames)
	} else if c.outputs == 0 {
		c.outputs = len(c.frame.Outputs)
	}
	if c.outputs > len(c.frame.Outputs) {
		return refuse("%d outputs are wanted; the model has %s", c.outputs, &c.session.fetches)
	}
	if err := c.session.fetches.choose(c.frame.OutputChoice, "output", request.OutputNames); err != nil {
		return err
	}
	for i := range c.frame.Outputs {
		c.frame.Outputs[i] = 0
		if i < len(request.Outputs) && request.Outputs[i] != nil {
			if err := c.use(request.Outputs[i]); err != nil {
				return err
			}
			c.frame.Outputs[i] = request.Outputs[i].address
		}
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

// choose writes the indices of names.
func (n *names) choose(choice []int32, what string, chosen []string) error {
	for i, name := range chosen {
		index, known := n.index[name]
		if !known {
			return refuse("the model has no %s '%s'; it has %s", what, name, n)
		}
		choice[i] = index
	}
	return nil
}

func (n *names) String() string { return strings.Join(n.words, ", ") }

func (c *call) run(options uintptr) error {
	native.Run_frame(c.session.address, options, c.session.feeds.list, c.inputs, flag(c.chosenInputs),
		c.session.fetches.list, c.outputs, flag(c.chosenOutputs), c.frame.Address)
	return failure(c.frame.TakeStatus())
}

// results are the given outputs and owners of those that were made.
func (c *call) results(given []*Value, err error) ([]*Value, error) {
	if err != nil {
		return nil, err
	}
	values := make([]*Value, c.outputs)
	for i := range values {
		if i < len(given) && given[i] != nil {
			values[i] = given[i]
			continue
		}
		values[i], _ = newValue(c.frame.Outputs[i], nil)
		if facts := &c.frame.Facts[i]; facts.Type != 0 {
			values[i].facts.set(ElementType(facts.Type), facts.Data, int(facts.Size), facts.OnCPU != 0,
				facts.Shape[:facts.Rank])
			values[i].known.Store(true)
		}
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
