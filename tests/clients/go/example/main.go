// The shortest program with onnxruntime_go: the probability of each digit for a blank picture.
package main

import (
	"fmt"
	"log"
	"os"

	ort "github.com/yalue/onnxruntime_go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ort.SetSharedLibraryPath(os.Args[1])
	check(ort.InitializeEnvironment())
	defer ort.DestroyEnvironment()
	image, err := ort.NewEmptyTensor[float32](ort.NewShape(1, 1, 8, 8))
	check(err)
	probabilities, err := ort.NewEmptyTensor[float32](ort.NewShape(1, 10))
	check(err)
	session, err := ort.NewAdvancedSession("tests/models/digits.onnx", []string{"image"}, []string{"probabilities"},
		[]ort.Value{image}, []ort.Value{probabilities}, nil)
	check(err)
	defer session.Destroy()
	check(session.Run())
	for digit, p := range probabilities.GetData() {
		fmt.Printf("%d: %.3f\n", digit, p)
	}
}
