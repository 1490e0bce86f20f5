// Examples of the documentation. They run in the folder of the source tree.

package ortolan_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"ortolan.org/ortolan"
)

const digits = "tests/models/digits.onnx"

func Example() {
	session, err := ortolan.NewSession(digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	image, err := ortolan.NewTensor(make([]float32, 2*64), 2, 1, 8, 8)
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	outputs, err := session.Run(image)
	if err != nil {
		log.Fatal(err)
	}
	defer outputs[0].Close()
	shape, err := outputs[0].Shape()
	fmt.Println(shape, err)
	// Output: [2 10] <nil>
}

// The inputs and outputs of a model.
func ExampleSession_Inputs() {
	session, err := ortolan.NewSession(digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	inputs, err := session.Inputs()
	if err != nil {
		log.Fatal(err)
	}
	for _, input := range inputs {
		fmt.Println(input.Name, input.Type)
	}
	// Output: image tensor(float32, [N, 1, 8, 8])
}

// A run that ends when its time is over.
func ExampleSession_RunContext() {
	session, err := ortolan.NewSession(digits, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	image, err := ortolan.NewZeros(ortolan.Float32Type, 1, 1, 8, 8)
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = session.RunContext(ctx, image)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

// Providers in the order of preference: nodes run on the first one that can, the CPU last.
func ExampleSessionOptions_AppendProviders() {
	options, err := ortolan.NewSessionOptions()
	if err != nil {
		log.Fatal(err)
	}
	defer options.Close()
	appended, err := options.AppendProviders(
		ortolan.Provider{Name: "NoSuchExecutionProvider", Optional: true},
		ortolan.Provider{Name: ortolan.CPUProvider},
	)
	fmt.Println(appended, err)
	// Output: [CPUExecutionProvider] <nil>
}

// Code and text of an error.
func ExampleError() {
	_, err := ortolan.NewSession("absent.onnx", nil)
	var failed *ortolan.Error
	if errors.As(err, &failed) && failed.Code == ortolan.NoSuchFile {
		fmt.Println("there is no such file")
	}
	// Output: there is no such file
}

// Filling a tensor without a further copy.
func ExampleWithData() {
	value, err := ortolan.NewZeros(ortolan.Int64Type, 3)
	if err != nil {
		log.Fatal(err)
	}
	defer value.Close()
	err = ortolan.WithData(value, func(data []int64) error {
		for i := range data {
			data[i] = int64(i * i)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	numbers, err := ortolan.Data[int64](value)
	fmt.Println(numbers, err)
	// Output: [0 1 4] <nil>
}
