// What a model says about itself.

package ortolan

import "ortolan.org/ortolan/internal/native"

// Metadata is what a model says about itself.
type Metadata struct {
	Producer         string // the program that made the model
	GraphName        string
	GraphDescription string
	Domain           string
	Description      string
	Version          int64
	Custom           map[string]string // further entries
}

// Metadata reads what the model says about itself.
func (s *Session) Metadata() (*Metadata, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	var status uintptr
	address := native.Create_metadata(s.address, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	defer native.Release_metadata(address)
	return copyMetadata(address)
}

func copyMetadata(address uintptr) (*Metadata, error) {
	metadata := &Metadata{Custom: map[string]string{}}
	texts := []struct {
		place *string
		read  func(address uintptr, status *uintptr) *byte
	}{
		{&metadata.Producer, native.Metadata_producer}, {&metadata.GraphName, native.Metadata_graph_name},
		{&metadata.GraphDescription, native.Metadata_graph_description}, {&metadata.Domain, native.Metadata_domain},
		{&metadata.Description, native.Metadata_description},
	}
	var status uintptr
	for _, text := range texts {
		*text.place = native.TakeString(text.read(address, &status))
		if status != 0 {
			return nil, failure(status)
		}
	}
	metadata.Version = native.Metadata_version(address, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	keys, err := takeTexts(native.Metadata_keys(address, &status), status)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		metadata.Custom[key] = native.TakeString(native.Metadata_value(address, native.TextOf(key), &status))
		if err := failure(status); err != nil {
			return nil, err
		}
	}
	return metadata, nil
}
