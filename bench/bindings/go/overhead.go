// What a run costs in Go: overhead MODEL SECONDS.
//
// One run makes a tensor of a slice of 32 floats, runs the model (x to y), reads the 32 floats of the result as a slice
// and closes both. Prints the median over batches of 1000 runs, in microseconds a run.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"ortolan.org/ortolan"
)

const (
	width = 32
	batch = 1000
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

func run(session *ortolan.Session, input []float32) (sum float32) {
	x, err := ortolan.NewTensor(input, 1, width)
	check(err)
	defer x.Close()
	outputs, err := session.Run(x)
	check(err)
	defer outputs[0].Close()
	result, err := ortolan.Data[float32](outputs[0])
	check(err)
	for _, number := range result {
		sum += number
	}
	return sum
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: overhead MODEL SECONDS")
		os.Exit(2)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	check(err)
	options, err := ortolan.NewSessionOptions()
	check(err)
	defer options.Close()
	check(options.SetIntraOpThreads(1))
	session, err := ortolan.NewSession(os.Args[1], options)
	check(err)
	defer session.Close()

	input := make([]float32, width)
	for i := range input {
		input[i] = float32(i) / width
	}
	var batches []float64
	var sum float32
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end); {
		start := time.Now()
		for i := 0; i < batch; i++ {
			sum += run(session, input)
		}
		batches = append(batches, float64(time.Since(start).Nanoseconds())/1000/batch)
	}
	sort.Float64s(batches)
	fmt.Printf("median_us %.3f\n", batches[len(batches)/2])
	if sum != sum {
		fmt.Fprintln(os.Stderr, "overhead: the result is no number")
	}
}
