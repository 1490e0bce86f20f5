// Classifies pictures of handwritten digits: digits MODEL PICTURE.pgm...
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"ortolan.org/ortolan"
)

const size = 8

// readPicture reads a PGM picture in text form, of 8 x 8 pixels, as ink from 0 to 1.
func readPicture(path string) ([]float32, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(comments.ReplaceAllString(string(content), ""))
	if len(words) != 4+size*size || words[0] != "P2" {
		return nil, fmt.Errorf("%s: not a PGM picture of %d x %d pixels", path, size, size)
	}
	numbers := make([]float32, len(words)-1)
	for i, word := range words[1:] {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		numbers[i] = float32(number)
	}
	most, pixels := numbers[2], numbers[3:]
	for i := range pixels {
		pixels[i] /= most
	}
	return pixels, nil
}

var comments = regexp.MustCompile("#.*")

// classify runs the network on a picture.
func classify(session *ortolan.Session, path string) (digit int, err error) {
	pixels, err := readPicture(path)
	if err != nil {
		return 0, err
	}
	input, err := ortolan.NewTensor(pixels, 1, 1, size, size)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	outputs, err := session.Run(input)
	if err != nil {
		return 0, err
	}
	defer outputs[0].Close()
	scores, err := ortolan.Data[float32](outputs[0])
	for i, score := range scores {
		if score > scores[digit] {
			digit = i
		}
	}
	return digit, err
}

func run(model string, pictures []string) error {
	session, err := ortolan.NewSession(model, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, picture := range pictures {
		digit, err := classify(session, picture)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d\n", filepath.Base(picture), digit)
	}
	return nil
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: digits MODEL PICTURE.pgm...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
