// Runs: by order and by name, in place, with every type, cancelled, and failing.

package tests

import (
	"context"
	"errors"
	"testing"
	"time"

	"ortolan.org/ortolan"
)

func TestRunByOrder(t *testing.T) {
	session := open(t, "add", nil)
	outputs := must[[]*ortolan.Value](t)(session.Run(floats(t, 1, 2), floats(t, 10, 20)))
	equal(t, len(outputs), 2)
	equal(t, dataOf[float32](t, outputs[0]), []float32{11, 22})
	equal(t, dataOf[float32](t, outputs[1]), []float32{22, 44})
}

func TestRunByName(t *testing.T) {
	session := open(t, "add", nil)
	inputs := map[string]*ortolan.Value{"b": floats(t, 1), "a": floats(t, 2), "factor": floats(t, 100)}
	results := must[map[string]*ortolan.Value](t)(session.RunNamed(context.Background(), inputs, "scaled"))
	equal(t, len(results), 1)
	equal(t, dataOf[float32](t, results["scaled"]), []float32{300})
	results = must[map[string]*ortolan.Value](t)(session.RunNamed(context.Background(), inputs))
	equal(t, dataOf[float32](t, results["sum"]), []float32{3})
	equal(t, dataOf[float32](t, results["scaled"]), []float32{300})

	_, err := session.RunNamed(context.Background(), inputs, "product")
	refused(t, err, ortolan.InvalidArgument, "the model has no output 'product'; it has sum, scaled")
	delete(inputs, "b")
	inputs["c"] = inputs["a"]
	_, err = session.RunNamed(context.Background(), inputs)
	refused(t, err, ortolan.InvalidArgument, "the model has no input 'c'; it has a, b, factor")
}

func TestOutputsInPlace(t *testing.T) {
	session := open(t, "add", nil)
	given := floats(t, 0, 0)
	outputs := must[[]*ortolan.Value](t)(session.Do(context.Background(), ortolan.Request{
		Inputs:      []*ortolan.Value{floats(t, 1, 2), floats(t, 3, 4)},
		OutputNames: []string{"scaled", "sum"},
		Outputs:     []*ortolan.Value{given, nil},
	}))
	equal(t, outputs[0] == given, true)
	equal(t, dataOf[float32](t, given), []float32{8, 12})
	equal(t, dataOf[float32](t, outputs[1]), []float32{4, 6})
	outputs = must[[]*ortolan.Value](t)(session.Do(context.Background(), ortolan.Request{
		Inputs:  []*ortolan.Value{floats(t, 1, 1), floats(t, 1, 1)},
		Outputs: []*ortolan.Value{given},
	}))
	equal(t, len(outputs), 1)
	equal(t, dataOf[float32](t, given), []float32{2, 2})
}

// Data knows where a tensor's elements are; runs that write it must leave them there.
func TestOutputsStayInPlace(t *testing.T) {
	for _, name := range []string{"identity_float", "mlp"} {
		input, given := tensor(t, make([]float32, 32), 1, 32), tensor(t, make([]float32, 32), 1, 32)
		var before, after *float32
		check(t, ortolan.WithData(given, func(data []float32) error {
			before = &data[0]
			data[0] = 99
			return nil
		}))
		session := open(t, name, nil)
		must[[]*ortolan.Value](t)(session.Do(context.Background(), ortolan.Request{
			Inputs: []*ortolan.Value{input}, Outputs: []*ortolan.Value{given}}))
		equal(t, dataOf[float32](t, given)[0] == 99, false)
		binding := must[*ortolan.Binding](t)(session.NewBinding())
		check(t, binding.BindInput("x", input))
		check(t, binding.BindOutput("y", given))
		check(t, ortolan.WithData(given, func(data []float32) error {
			data[0] = 99
			return nil
		}))
		check(t, binding.Run())
		equal(t, dataOf[float32](t, given)[0] == 99, false)
		bound := must[[]*ortolan.Value](t)(binding.Outputs())
		check(t, ortolan.WithData(bound[0], func(data []float32) error {
			after = &data[0]
			return nil
		}))
		equal(t, before == after, true)
		check(t, binding.Close())
	}
}

func TestWrongRequests(t *testing.T) {
	session, one := open(t, "add", nil), floats(t, 1)
	do := func(request ortolan.Request) error {
		_, err := session.Do(context.Background(), request)
		return err
	}
	refused(t, do(ortolan.Request{Inputs: []*ortolan.Value{one, nil}}), ortolan.InvalidArgument, "input 1 is nil")
	refused(t, do(ortolan.Request{Inputs: []*ortolan.Value{one}, InputNames: []string{"a", "b"}}),
		ortolan.InvalidArgument, "there are 2 names for 1 inputs")
	refused(t, do(ortolan.Request{OutputNames: []string{"sum"}, Outputs: []*ortolan.Value{nil, nil}}),
		ortolan.InvalidArgument, "there are 1 names for 2 outputs")
	refused(t, do(ortolan.Request{Inputs: []*ortolan.Value{one, one, one, one}}), ortolan.InvalidArgument,
		"there are 4 inputs; the model has a, b, factor")
	refused(t, do(ortolan.Request{Inputs: []*ortolan.Value{one}}), ortolan.InvalidArgument, "input 'b' is missing")
	refused(t, do(ortolan.Request{Inputs: []*ortolan.Value{one, tensor(t, []int64{1}, 1)}}), ortolan.InvalidArgument,
		"int64")
	failing := open(t, "failing", nil)
	_, err := failing.Run(tensor(t, []int64{7}, 1))
	refused(t, err, ortolan.InvalidArgument, "picker")
}

func TestContextEndsARun(t *testing.T) {
	session := open(t, "endless", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := session.RunContext(ctx, floats(t, 0))
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
	equal(t, errors.Is(err, ortolan.ErrCanceled), false)
	_, err = session.RunContext(ctx, floats(t, 0))
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
	refused(t, err, ortolan.Fail, "the run did not begin")
}

func TestTerminateEndsRuns(t *testing.T) {
	session, options := open(t, "endless", nil), &ortolan.RunOptions{Tag: "endless"}
	input := floats(t, 0)
	request := ortolan.Request{Inputs: []*ortolan.Value{input}, Options: options}
	time.AfterFunc(50*time.Millisecond, options.Terminate)
	_, err := session.Do(context.Background(), request)
	equal(t, errors.Is(err, ortolan.ErrCanceled), true)
	_, err = session.Do(context.Background(), request)
	equal(t, errors.Is(err, ortolan.ErrCanceled), true)
	options.Unterminate()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = session.Do(ctx, request)
	equal(t, errors.Is(err, context.Canceled), true)
}
